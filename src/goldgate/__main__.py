"""`python -m goldgate`: the command line."""

import sys

if __name__ == "__main__":
    # Python puts the working directory first on the path: a file that happens to be named like a library's would run.
    if not sys.flags.safe_path:
        del sys.path[0]
    from goldgate.core.uninterrupted import uninterrupted

    with uninterrupted():  # from the first line of `main` on, Ctrl-C shows no traceback
        from goldgate.cli.main import main
    main()
