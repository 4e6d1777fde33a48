"""The error of what needs libraries that are not installed, with a line that installs them."""

from __future__ import annotations

from pathlib import Path

import goldgate
from goldgate.errors import ConfigError


def missing_extra(extra: str, purpose: str) -> ConfigError:
    """`purpose` needs the extra; from a checkout, where evaluate.py may run uninstalled, it stays editable."""
    checkout = (Path(goldgate.__file__).parents[2] / "pyproject.toml").is_file()
    folder = f"in goldgate's folder: pip install {'-e ' if checkout else ''}'.[{extra}]'"
    return ConfigError(
        "extra.missing",
        f"{purpose} needs the extra `{extra}`, which is not installed",
        advice=folder if checkout else f"{folder}; with a wheel: pip install 'goldgate-….whl[{extra}]'",
    )
