"""Whether a thought is the answer over again: JSON that says the same, in the place of reasons.

Such a thought names every type and argument, so it is as consistent as can be, and shows nothing.
"""

from __future__ import annotations

import re
from fractions import Fraction

from goldgate.suites.extraction.events.event import Events
from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.events.occurrences import contained

MOST = Fraction(4, 5)  # of the answer's types and values; a draft that was corrected has fewer

_QUOTED_KEY = re.compile(r"[\"'“”‘’`]\s*[:：]")
_QUOTES = str.maketrans("'`=", '"":')
_AFTER_QUOTED_KEY = (('":"', '"'), ('":', ","), ('":', "}"), ('":["', '"'), (',"', '"'))
_AFTER_ANY_KEY = ((':"', '"'), (':["', '"'))


def is_copied(events: Events, source: str | None, thought: str) -> bool:
    """Whether the thought holds the answer's own JSON, or most of its types and values as members of JSON.

    A member is a value behind a quoted key and a colon, or in a list behind one; where there are
    braces, a quoted value behind any key. An event type may be a quoted key itself.
    """
    if not events.units or not _has_structure(thought):
        return False
    squeezed = _squeezed(thought)
    if source is not None and _squeezed(source) in squeezed:
        return True
    types = {_squeezed(event_type) for event_type in events.units}
    written = types | {argument.translate(_QUOTES) for pairs in events.units.values() for _, argument in pairs}
    around = _AFTER_QUOTED_KEY + (_AFTER_ANY_KEY if "{" in squeezed else ())
    member_of = {before + value + after: value for value in written for before, after in around}
    member_of.update({f'"{event_type}":': event_type for event_type in types})
    members = {member_of[found] for found in contained(member_of, squeezed)}
    return len(members) >= MOST * len(written)


def _has_structure(thought: str) -> bool:
    """Whether there is a brace, or a quoted key and its colon, as models write them: `Person: "Ann"` has neither."""
    if "{" in thought or "｛" in thought:
        return True
    return _QUOTED_KEY.search(thought) is not None


def _squeezed(text: str) -> str:
    """Without blanks, and with one kind of quotes."""
    return normalize(text).translate(_QUOTES)
