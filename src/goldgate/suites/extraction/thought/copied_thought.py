"""Whether a thought is the answer over again: JSON that says the same, in the place of reasons.

Such a thought names every type and argument, so it is as consistent as can be, and shows nothing.
"""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape

from goldgate.suites.extraction.events.event import Events
from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.events.occurrences import contained

MOST = Fraction(4, 5)  # of the answer's types and values; a draft that was corrected has fewer

_MARKS = re.compile(r"[\W_]+")
# ASCII without entities. Its last character may belong to what follows; the others have the same letters anywhere.
_PLAIN_BEGIN = re.compile(r"[\x00-\x25\x27-\x7e]{2,40}")
_QUOTED_KEY = re.compile(r"[\"'“”‘’`]\s*[:：]")
_QUOTES = str.maketrans("'`=", '"":')
_AFTER_QUOTED_KEY = (('":"', '"'), ('":', ","), ('":', "}"), ('":["', '"'), (',"', '"'))
_AFTER_ANY_KEY = ((':"', '"'), (':["', '"'))


def is_copied(events: Events, source: str | None, thought: str) -> bool:
    """Whether the thought holds the answer's own JSON, or most of its types and values as members of JSON.

    Its own JSON is there if its letters and digits are, one behind the other: whatever its marks were replaced by.

    A member is a value behind a quoted key and a colon, or in a list behind one; where there are
    braces, a quoted value behind any key. An event type may be a quoted key itself.
    """
    if not events.units:
        return False
    if source is not None and _is_repeated(events, source, thought):
        return True
    if not _has_structure(thought):
        return False
    squeezed = _squeezed(thought)
    types = {_squeezed(event_type) for event_type in events.units}
    written = types | {argument.translate(_QUOTES) for pairs in events.units.values() for _, argument in pairs}
    around = _AFTER_QUOTED_KEY + (_AFTER_ANY_KEY if "{" in squeezed else ())
    member_of = {before + value + after: value for value in written for before, after in around}
    member_of.update({f'"{event_type}":': event_type for event_type in types})
    members = {member_of[found] for found in contained(member_of, squeezed)}
    return len(members) >= MOST * len(written)


def _is_repeated(events: Events, source: str, thought: str) -> bool:
    """Whether the letters of the answer's JSON are in the thought, names of keys such as `argument` among them.

    A flat answer has no such names: `Person: Ann` in words has the same letters.
    """
    in_thought = _letters(thought)
    begin = _PLAIN_BEGIN.match(source)  # the first key, in most answers: most thoughts do not have it
    if begin is not None and _letters(begin.group()[:-1]) not in in_thought:
        return False
    letters = _letters(source)
    words = "".join(
        [part for event_type, roles, texts, _, _ in events.columns for part in (event_type, *roles, *texts)]
    )
    return len(letters) > len(_letters(words)) and letters in in_thought


def _letters(text: str) -> str:
    """Letters and digits alone: JSON in other quotes, escaped once more or as YAML has the same ones."""
    return _MARKS.sub("", normalize(unescape(text)))


def _has_structure(thought: str) -> bool:
    """Whether there is a brace, or a quoted key and its colon, as models write them: `Person: "Ann"` has neither."""
    if "{" in thought or "｛" in thought:
        return True
    return _QUOTED_KEY.search(thought) is not None


def _squeezed(text: str) -> str:
    """Without blanks, and with one kind of quotes."""
    return normalize(text).translate(_QUOTES)
