"""The data of `goldgate demo`, which comes with the package: some of the documents of `examples/extraction`."""

from __future__ import annotations

from importlib.resources import files

FILES = ("gold.jsonl", "model-a.jsonl", "model-b.jsonl", "schema.json", "release.yaml")


def demo_files() -> dict[str, bytes]:
    """The files by name."""
    folder = files(__name__) / "data"
    return {name: (folder / name).read_bytes() for name in FILES}
