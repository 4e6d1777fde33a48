"""Names of places in a page, for links: safe and different, whatever the titles and the ids are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_OTHER = re.compile(r"[^a-z0-9]+")
_SLUG = 32  # characters of a title or an id that a reader can still recognize
_OWN = ("main", "filters")
_DIGEST = 12  # hex digits


def unit_anchor(identity: str) -> str:
    """`sample-zh-003`; an id that cannot stand in a link as it is gets a digest, and no two ids get the same."""
    if _PLAIN.fullmatch(identity):
        return f"sample-{identity}"
    digest = sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:_DIGEST]
    return f"sample-{_slug(identity)}~{digest}"  # no plain id has a ~


def section_anchors(titles: Iterable[str]) -> list[str]:
    """`errors-by-name`; the second of that name gets a number, and none is that of a unit or of our own."""
    found: list[str] = []
    for title in titles:
        slug = _slug(title) or "section"
        slug = f"section-{slug}" if slug.startswith("sample") or slug in _OWN else slug
        number, anchor = 1, slug
        while anchor in found:
            number += 1
            anchor = f"{slug}-{number}"
        found.append(anchor)
    return found


def _slug(text: str) -> str:
    return _OTHER.sub("-", text[:_SLUG].lower()).strip("-")
