"""Whether a thought is the answer over again: JSON that says the same, in the place of reasons.

Such a thought names every type and argument, so it is as consistent as can be, and shows nothing.
"""

from __future__ import annotations

import re

from goldgate.extraction.event import Events
from goldgate.extraction.normalize import normalize
from goldgate.extraction.occurrences import contained

# A quoted key and its colon, as models write them; `Person: "Ann"` in plain words has none.
_KEY = re.compile(r"[\"'“”‘’＂＇`]\s*[:：=]")
_QUOTES = str.maketrans("'`", '""')


def is_copied(events: Events, source: str | None, thought: str) -> bool:
    """Whether the thought holds the answer's own JSON, or at least half of its types and values as members of JSON.

    A member is the quoted value behind a quoted key and a colon, or in a list behind one.
    """
    if not events.units or not _KEY.search(thought):
        return False
    squeezed = normalize(thought).translate(_QUOTES)
    if source is not None and normalize(source).translate(_QUOTES) in squeezed:
        return True
    said = dict.fromkeys(normalize(event_type) for event_type in events.units)
    said.update(dict.fromkeys(argument for pairs in events.units.values() for _, argument in pairs))
    quoted = {before + value.translate(_QUOTES) + after: value for value in said for before, after in _MEMBER}
    members = {quoted[found] for found in contained(quoted, squeezed)}
    return 2 * len(members) >= len(said)


_MEMBER = (('":"', '"'), ('":', ","), ('":', "}"), ('":["', '"'), (',"', '"'))
