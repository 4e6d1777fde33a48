"""`goldgate --version`: the version, and how it was built."""

from __future__ import annotations

from click.testing import CliRunner

from goldgate import __version__
from goldgate.cli.built import how_built
from goldgate.cli.main import goldgate


def test_the_version_says_whether_it_is_compiled() -> None:
    shown = CliRunner().invoke(goldgate, ["--version"])
    assert shown.exit_code == 0
    assert shown.output == f"goldgate {__version__} ({how_built()})\n"


def test_a_checkout_is_plain_python() -> None:
    assert how_built() == "plain Python"
