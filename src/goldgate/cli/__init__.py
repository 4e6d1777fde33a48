"""The command line: one module for each command or kind of command. Heavy imports wait until a command runs."""
