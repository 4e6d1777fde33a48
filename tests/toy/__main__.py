"""`python -m tests.toy qa …`: the goldgate command, with the toy suite in its list."""

from goldgate.cli.main import main
from goldgate.suites import SUITES

if __name__ == "__main__":
    SUITES["qa"] = "tests.toy.suite:SUITE"
    main()
