"""`python -m goldgate`: the command line."""

from goldgate.cli.main import main

if __name__ == "__main__":
    main()
