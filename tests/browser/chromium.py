"""The system's chromium, which the tests steer. `python -m tests.browser.chromium` sees to it that there is one.

With it come fonts for Chinese, Japanese and Korean: without them the pictures in the docs would show boxes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
FONTS = ("fonts-noto-cjk", "fonts-noto-core")
LANGUAGES = ("zh", "ja", "ko")


def find_chromium() -> str | None:
    """Where it is: what CHROMIUM names, or one of the usual names."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def missing_packages() -> list[str]:
    """What has to be installed before pages look as they should."""
    return [*(() if find_chromium() else ("chromium",)), *(() if has_fonts() else FONTS)]


def has_fonts() -> bool:
    """Whether there is a font for each of the languages; False where nothing can say so."""
    program = shutil.which("fc-list")
    return program is not None and all(
        subprocess.run([program, f":lang={language}"], capture_output=True, check=False).stdout
        for language in LANGUAGES
    )


def install(packages: list[str]) -> None:
    """Install packages where that is possible: with Debian's or Ubuntu's, and the right to install them."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "fontconfig", *packages]):
        subprocess.run(["apt-get", *command], env=environment, check=False, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    missing = missing_packages()
    if missing:
        install(missing)
    if find_chromium() is None:
        sys.exit(
            "The pages are tested in a browser, and there is no chromium here that could be found or installed.\n"
            "Install one (Debian and Ubuntu: apt-get install chromium), or name one: CHROMIUM=/path/to/it"
        )
    print(f"The browser: {find_chromium()}" + ("" if has_fonts() else "; there are no fonts for Chinese text"))
