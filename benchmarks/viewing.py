"""How long a result takes to open in the viewer, and how long its pages take: `--samples` made-up samples.

The example model's records are repeated under other ids, so that values, errors and sizes are those of real answers.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from goldgate import evaluate_files
from goldgate.core.evaluation import render_json
from goldgate.viewer.folder import ViewedFolder, open_folder
from goldgate.viewer.site import Site

EXAMPLES = Path(__file__).parents[1] / "examples" / "extraction"
OPENED, ANSWERED = 2.0, 0.1  # seconds that are promised, for 1,000,000 samples
REPEATS = 7

PAGES = {
    "report": ("/", ""),
    "list": ("/0/samples", ""),
    "page in the middle": ("/0/samples", "page={middle}"),
    "last page, as in the file": ("/0/samples", "page={last}&order=file"),
    "one filter": ("/0/samples", "in.error=boundary"),
    "four filters": ("/0/samples", "in.error=missing&in.read=repaired&in.gate=strict_f1&in.role=质押方"),
    "a sample": ("/0/samples/{sample}", "in.error=boundary"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--once", metavar="DIR", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        began = time.perf_counter()
        open_folder(given.once, "it").close()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{time.perf_counter() - began} {memory}")
        return
    for samples in given.samples:
        with TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = str(Path(folder, "cache"))
            measure(write_run(Path(folder, "it"), samples), samples)


def measure(folder: Path, samples: int) -> None:
    size = (folder / "samples.jsonl").stat().st_size
    print(f"{samples:,} samples, {size / 1e6:,.0f} MB of records")
    # Each in a process of its own: nothing is warm but the system's own cache of files.
    first, memory = opened_apart(folder)
    print(f"  first index            {first:8.2f} s, {samples / first:,.0f} samples a second, {memory:.0f} MB at most")
    again, memory = opened_apart(folder)
    kept = sum(file.stat().st_size for file in Path(os.environ["XDG_CACHE_HOME"], "goldgate").iterdir())
    print(f"  opened again           {again:8.2f} s, {_share(again, OPENED)}")
    print(f"  kept                   {kept / 1e6:8.0f} MB on disk, {memory:.0f} MB in memory when open")
    viewed = open_folder(str(folder), "it")
    measure_pages(viewed, samples)
    began = time.perf_counter()
    viewed.search("nowhere", "weight")
    seconds = time.perf_counter() - began
    print(f"  search                 {seconds:8.2f} s, {size / 1e6 / seconds:,.0f} MB a second")
    viewed.close()


def measure_pages(viewed: ViewedFolder, samples: int) -> None:
    site = Site([viewed], None)
    last = -(-samples // 50)
    for name, (path, query) in PAGES.items():
        places = {"middle": last // 2, "last": last, "sample": samples // 3}

        def ask(repeat: int, path: str = path, query: str = query, places: dict[str, int] = places) -> None:
            answer = site.answer(path.format(**places), query.format(**places))
            assert answer.status == 200, answer.html

        seconds = _middle(ask)
        print(f"  {name:<26} {seconds * 1e3:6.1f} ms, {_share(seconds, ANSWERED)}")


def opened_apart(folder: Path) -> tuple[float, float]:
    """Seconds and megabytes of a process that opens the folder."""
    done = subprocess.run([sys.executable, __file__, "--once", str(folder)], capture_output=True, text=True, check=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def write_run(folder: Path, samples: int) -> Path:
    folder.mkdir()
    paths = [EXAMPLES / name for name in ("gold.jsonl", "model-b.jsonl", "schema.json", "protocol-fail.yaml")]
    with open(folder / "example", "w+b") as records:
        report = evaluate_files(*paths, records=records).report
        records.seek(0)
        known = [orjson.loads(line) for line in records]
    (folder / "example").unlink()
    chance = random.Random(0)
    with open(folder / "samples.jsonl", "wb") as stream:
        for number in range(samples):
            record = {**chance.choice(known), "id": f"doc-{number:07}"}
            stream.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    (folder / "report.json").write_bytes(render_json(report))
    return folder


def _middle(ask: Callable[[int], None]) -> float:
    times = []
    for repeat in range(REPEATS):
        began = time.perf_counter()
        ask(repeat)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _share(seconds: float, promised: float) -> str:
    return f"{seconds / promised:.2f} of the {promised:g} s that are promised for 1,000,000"


if __name__ == "__main__":
    main()
