"""`python -m tests.cluster`: the tests of this folder, in a network and among processes of their own.

Nobody outside reaches the cluster, which trusts whoever does; and when the tests end, whatever they started does too.
Options are those of pytest.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import struct
import subprocess
import sys

INSIDE = "--inside"
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_UNSHARE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def bring_up_loopback() -> None:
    """`ip link set lo up`, where that command may be missing."""
    with socket.socket() as opened:
        asked = fcntl.ioctl(opened, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", asked)[1]
        fcntl.ioctl(opened, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def enter(arguments: list[str]) -> int:
    """Start this module again inside; the result is the exit status of the tests."""
    command = [*_UNSHARE, *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], check=False).returncode:
        print(
            "The cluster of the tests needs a network of its own, and none can be made here.\n"
            "It takes util-linux (unshare), and root or the right to make user namespaces:\n"
            "sysctl kernel.unprivileged_userns_clone=1, or a container with --privileged",
            file=sys.stderr,
        )
        return 2
    return subprocess.run([*command, sys.executable, "-m", __package__, INSIDE, *arguments], check=False).returncode


def main(arguments: list[str]) -> int:
    if arguments[:1] != [INSIDE]:
        return enter(arguments)
    bring_up_loopback()
    # For nodes, tests and commands. Workers that give way to everything else would starve on a busy machine.
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_worker_niceness": "0"}
    import pytest

    # Warnings are those of packages that are not ours, and of what their threads leave open.
    return pytest.main(["-o", "filterwarnings=default", "tests/cluster", *arguments[1:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
