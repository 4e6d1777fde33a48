"""`python -m goldgate`: the command line."""

import sys

if __name__ == "__main__":
    # Python puts the working directory first on the path: a file that happens to be named like a library's would run.
    if not sys.flags.safe_path:
        del sys.path[0]
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while modules are imported, Ctrl-C just ends it
    from goldgate.cli.main import main

    main()
