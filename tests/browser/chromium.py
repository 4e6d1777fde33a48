"""The system's chromium, which the tests steer. `python -m tests.browser.chromium` sees to it that there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Where it is: what CHROMIUM names, or one of the usual names."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def install() -> bool:
    """Whether it could be installed: that takes Debian's or Ubuntu's packages and the right to install them."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    packages = ["chromium", "fonts-noto-cjk", "fonts-noto-core"]
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", *command], env=environment, check=False, stdout=subprocess.DEVNULL)
    return find_chromium() is not None


if __name__ == "__main__":
    if find_chromium() is None and not install():
        sys.exit(
            "The pages are tested in a browser, and there is no chromium here that could be found or installed.\n"
            "Install one (Debian and Ubuntu: apt-get install chromium), or name one: CHROMIUM=/path/to/it"
        )
    print(f"The browser: {find_chromium()}")
