"""Ask an OpenAI-compatible endpoint, keep every answer, score them: `goldgate generate`, then `goldgate extraction`."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder: a file that happens to be named like a library's would run

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C just ends it while modules are imported, until `start`

from pathlib import Path

try:
    import goldgate  # noqa: F401  # installed?
except ModuleNotFoundError:  # no: run from this checkout
    sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

try:
    from goldgate.cli.generate import evaluate_api_command
    from goldgate.cli.process import start
except ModuleNotFoundError as missing:  # 1, Python's own status for it, would read as a failed gate
    print(f"{missing.name} is not installed here: run make demo once, then . .venv/bin/activate", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(start(evaluate_api_command, "evaluate_api.py"))
