"""The evaluator's corpus as hashes: what an artifact must be one of for its evidence to be anchored."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from goldgate.errors import ConfigError, InputError, Place, describe
from goldgate.files.remote.open_remote import open_remote
from goldgate.files.text_file import cannot_read
from goldgate.files.url import is_url, real_place, shown_url
from goldgate.readers.records import bounded_lines
from goldgate.suites.research.run.files import sha256_of

KIND = "corpus"
_EXPECTED = "a file with a SHA-256 hash a line, as sha256sum writes it, or a directory of source files (--corpus)"


class Corpus(NamedTuple):
    """Hashes of sources, and one digest of them all: the order of lines and files changes nothing."""

    hashes: frozenset[str]
    sha256: str


def load_corpus(path: str | Path) -> Corpus:
    """Read a list of hashes, or hash every file of a directory and of the directories in it."""
    file = shown_url(str(path))
    try:
        hashes = _of_directory(file) if os.path.isdir(path) else _of_list(path, file)
    except OSError as problem:
        error = cannot_read(file, KIND, problem)
        error.expected = _EXPECTED
        raise error from None
    if not hashes:
        raise InputError(
            "corpus.empty", "the corpus has no source: nothing could be anchored", place=Place(file), expected=_EXPECTED
        )
    return Corpus(hashes, hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest())


def require_apart(corpus: str | Path, outputs: str | Path) -> None:
    """A corpus in the outputs, or around them, is the agent's to write: then it anchors nothing."""
    if is_url(str(corpus)) != is_url(str(outputs)):
        return
    known, written = real_place(corpus), real_place(outputs)
    if os.path.commonpath((known, written)) in (known, written):
        raise ConfigError(
            "corpus.holds_outputs",
            "the corpus and the outputs overlap: the agent could add to its own sources",
            place=Place(shown_url(str(corpus))),
            expected="a list or a folder that the agent does not write to (--corpus)",
        )


def _of_list(path: str | Path, file: str) -> frozenset[str]:
    """The first word of each line; what follows it is a name, and a line that begins with # a remark."""
    found: set[str] = set()
    with open_remote(str(path), KIND).stream() if is_url(path) else open(path, "rb") as stream:
        for number, line in enumerate(bounded_lines(stream, KIND, file), 1):
            words = line.decode("utf-8-sig", "replace").split(maxsplit=1)
            if not words or words[0].startswith("#"):
                continue
            digits = sha256_of(words[0].removeprefix("\\"))  # sha256sum marks names that it had to escape
            if digits is None:
                raise InputError(
                    "corpus.not_a_hash",
                    "this line does not begin with a SHA-256 hash",
                    place=Place(file, number),
                    expected=_EXPECTED,
                    found=describe(words[0]),
                )
            found.add(digits)
    return frozenset(found)


def _of_directory(folder: str) -> frozenset[str]:
    found: set[str] = set()
    for inner, _, names in os.walk(folder, onerror=_stop):
        for name in names:
            path = os.path.join(inner, name)
            if os.path.isfile(path):  # no pipe and no socket: reading one could wait for ever
                with open(path, "rb") as stream:
                    found.add(hashlib.file_digest(stream, "sha256").hexdigest())
    return frozenset(found)


def _stop(problem: OSError) -> None:
    raise problem
