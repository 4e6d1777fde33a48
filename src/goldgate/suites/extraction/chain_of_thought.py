"""Chain-of-thought diagnostics: whether a thought names the types and arguments of the answer, or only copies it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from goldgate.core.measure import UNITS_COLUMN, ColumnRatio, RatioMeasure, over
from goldgate.core.metric import Count, Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.core.value_text import (
    ASCII_SIGNS,
    FEW_NEEDLES,
    LATIN,
    automata,
    contained_values,
    join_words,
    normalize,
    normalize_all,
    normalize_with_blanks,
)
from goldgate.response import Status
from goldgate.response.parsed import ThoughtState
from goldgate.response.strings import lazy_pattern
from goldgate.suites.extraction.events import Events, Unit
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import CotRecord

MAX_THOUGHT = 1_000_000  # characters of a thought that are looked at; what is named behind them is not named
MANY_LINES = 20_000  # values times lines, from which on looking for one role after the other takes too long


def _word_patterns(*words: str) -> list[str]:
    """Patterns, in any case, of English words with one first letter. `re` finds what begins with a letter faster."""
    endings = "|".join("".join(_ANY_CASE.get(each, f"[{each}{each.upper()}]") for each in word[1:]) for word in words)
    return [rf"{first}(?<=\b{first})(?:{endings})\b" for first in (words[0][0], words[0][0].upper())]


_ANY_CASE = {"i": "[iIıİ]"}  # the only letter here with more than two cases under IGNORECASE
# Words by which a clause negates. Single characters (不, 无, 非) are not among them: they are part of many names.
NEGATION: Final = lazy_pattern(
    "|".join(
        [
            *_word_patterns("not", "never", "neither", "nor", "none"),
            *_word_patterns("without"),
            *_word_patterns("cannot"),
            *(rf"{pattern}(?!\.\s*\d)" for pattern in _word_patterns("no")),  # No. 5 is a number
            *(rf"{first}['’][tT]\b" for first in "nN"),
            *"不是 不属于 不为 不包括 不存在 不应 不能 不会 并非 并不 并未".split(),
            *"绝非 而非 没有 没提 未提 未说明 无关 无法".split(),
        ]
    )
)
# What ends a clause. A question does not, because its answer may negate it; a mark inside a number does not either.
_CLAUSE_END: Final = lazy_pattern(
    "(" + "|".join([*";!，。；！\n", r",(?!\d)", r"\.(?!\d)", *_word_patterns("but"), "而是"]) + ")"
)

COPIED = 50  # characters by which a stretch of the source text must be longer than any value, to be a copy
_PLACES = 16  # of a part in the source text that are looked at
_GAP = "\0"  # what is left of what does not count; no value goes across it


_BEFORE_COLON = r"(?<!\w){}(?=\s*[:：=])"
_BEHIND_COLON = r"[:：=][ \t\"'`*“”]*{}(?=[ \t\"'`*“”]*(?:[;!,.，。；！\n]|$))"
_NEGATING_VALUES = 100  # of an answer with more, no clause is kept for their sake


def negating_names(names: Iterable[str], alone: str = _BEFORE_COLON) -> re.Pattern[str] | None:
    """What finds names that hold a word by which a clause negates: `Contract No`. None where no name does.

    A name that is such a word and no more (`No`) is one only `alone`: before a colon.
    """
    patterns = [
        (alone if NEGATION.fullmatch(name) else r"(?<!\w){}(?!\w)").replace("{}", re.escape(name))
        for name in sorted({*names}, key=lambda name: (-len(name), name))
        if NEGATION.search(name)
    ]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _negating_values(events: Events) -> re.Pattern[str] | None:
    """`negating_names` of the values of an answer, such as `not guilty`; `No` is one behind a colon."""
    texts = [text for columns in events.columns for text in columns[2]]
    if NEGATION.search("\0".join(texts)) is None:  # no negation goes across a NUL
        return None
    negating = {text.strip() for text in texts if NEGATION.search(text)}
    return negating_names(negating, _BEHIND_COLON) if len(negating) <= _NEGATING_VALUES else None


def without_negations(events: Events, thought: str, names: re.Pattern[str] | None = None) -> str:
    """The thought without its negated clauses, on as many lines.

    Words inside names of the schema, and values of the answer, do not count as negations.
    """
    if NEGATION.search(thought) is None:
        return thought
    masked = thought
    for pattern in (names, _negating_values(events)):
        if pattern is not None:
            masked = pattern.sub(lambda name: "x" * len(name[0]), masked)
    kept, at = [], 0
    for number, part in enumerate(_CLAUSE_END.split(masked)):
        negates = number % 2 == 0 and NEGATION.search(part) is not None
        kept.append(_GAP if negates else thought[at : at + len(part)])
        at += len(part)
    return "".join(kept)


def without_copies(events: Events, lines: Sequence[str], source: str) -> Sequence[str]:
    """Normalized lines without what they copy from the normalized source text, which is empty where there is none."""
    if not source or max(map(len, lines)) < COPIED:
        return lines
    least = COPIED + max([len(argument) for columns in events.columns for argument in columns[3]], default=0)
    return [line if len(line) < least else _without_copies(line, source, least) for line in lines]


def _without_copies(line: str, source: str, least: int) -> str:
    """A line without the stretches of at least this length that stand in the source text, too."""
    size = least // 2
    copies: list[tuple[int, int]] = []
    for at in range(0, len(line) - size + 1, least - size + 1):  # every stretch has such a part in it
        part = line[at : at + size]
        place = source.find(part)
        for _ in range(_PLACES):
            if place < 0:
                break
            start = at - _common_suffix_length(line[:at], source[:place])
            end = at + size + _common_prefix_length(line[at + size :], source[place + size :])
            if end - start >= least:
                copies.append((start, end))
            place = source.find(part, place + 1)
    kept: list[str] = []
    after = 0
    for start, end in sorted(copies):
        if start > after:
            kept.append(line[after:start])
        after = max(after, end)
    return _GAP.join([*kept, line[after:]]) if copies else line


def _common_suffix_length(a: str, b: str) -> int:
    """How many characters two texts have in common at the end."""
    most = min(len(a), len(b))
    return _common_prefix_length(a[len(a) - most :][::-1], b[len(b) - most :][::-1])


def _common_prefix_length(a: str, b: str) -> int:
    """How many characters two texts have in common at the beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def first_missing(events: Events, thought: str, lines: Sequence[str], by_line: bool) -> Unit | None:
    """The first predicted argument that the thought does not have; one is enough to be inconsistent.

    `lines` are those of the thought, normalized, as far as they count for values.
    """
    if not by_line:
        return _missing_anywhere(events, "".join(lines))
    values = sum([len(columns[2]) for columns in events.columns])
    if values * len(thought) > FEW_NEEDLES or values * len(lines) > MANY_LINES:
        return first_missing_by_automaton(events, thought, lines)
    return slow_first_missing(events, thought, lines)


def _missing_anywhere(events: Events, thought: str) -> Unit | None:
    """The first argument that is nowhere in a normalized thought."""
    present = contained_values({argument for columns in events.columns for argument in columns[3]}, thought)
    return next((value.unit for value in events.values(without=present)), None)


def slow_first_missing(events: Events, thought: str, lines: Sequence[str]) -> Unit | None:
    """The first argument that is on no line that names its role, by the rule: one after the other."""
    folded = thought.casefold().split("\n")  # casefolding works character by character, so that the lines are the same
    mentions: dict[tuple[str, int], bool] = {}  # whether a line names a role
    for event_type, roles, _, arguments, _ in events.columns:
        for role, argument in zip(roles, arguments, strict=True):
            for number, line in enumerate(lines):
                if argument in line:
                    is_named = mentions.get((role, number))
                    if is_named is None:
                        is_named = mentions[role, number] = _has_word(folded[number], role.casefold())
                    if is_named:
                        break
            else:
                return event_type, role, argument
    return None


def _has_word(text: str, word: str) -> bool:
    """Whether the word stands somewhere in the text as a word of its own."""
    at = text.find(word)
    while at >= 0 and not is_whole_word(text, at, word):
        at = text.find(word, at + 1)
    return at >= 0


def first_missing_by_automaton(events: Events, thought: str, lines: Sequence[str]) -> Unit | None:
    """`slow_first_missing` in time that grows with the answer and the thought, not with their product."""
    units = dict.fromkeys(value.unit for value in events.values())
    lines_and_roles = _lines_with_roles({role.casefold() for _, role, _ in units}, thought, lines)
    unseen_roles: dict[str, set[str]] = {}  # value → the roles it was not yet seen with
    for _, role, argument in units:
        unseen_roles.setdefault(argument, set()).add(role.casefold())
    longest = max((len(line) for line, _ in lines_and_roles), default=0)
    for automaton in automata(unseen_roles, longest, len(thought)):
        for line, roles in lines_and_roles:
            for value in automaton.found_in(line):
                unseen_roles[value] = unseen_roles[value] - roles  # looks through the smaller of the two
    return next((unit for unit in units if unit[1].casefold() in unseen_roles[unit[2]]), None)


def positions_of(text: str, part: str) -> list[int]:
    """Where the part stands in the text, overlaps included."""
    if part not in text:
        return []
    return [at for at in range(len(text) - len(part) + 1) if text.startswith(part, at)]


def is_whole_word(text: str, at: int, word: str) -> bool:
    """A name in Latin letters is not part of a longer word: `sue` in `issue` is none. Chinese has no such edge."""
    if word[0] in LATIN and at > 0 and text[at - 1] in LATIN:
        return False
    end = at + len(word)
    return not (word[-1] in LATIN and end < len(text) and text[end] in LATIN)


def _lines_with_roles(roles: set[str], thought: str, lines: Sequence[str]) -> list[tuple[str, set[str]]]:
    """The lines that name any role, normalized, each with the roles that it names."""
    folded = [line.casefold() for line in thought.split("\n")]
    roles_by_line: dict[int, set[str]] = {}
    for automaton in automata(roles, max(map(len, folded)), len(thought)):
        for number, line in enumerate(folded):
            if roles_here := automaton.found_in(line, as_words=True):
                roles_by_line.setdefault(number, set()).update(roles_here)
    return [(lines[number], roles_here) for number, roles_here in sorted(roles_by_line.items())]


COPIED_SHARE = Fraction(4, 5)  # of the answer's types and values; a draft that was corrected has fewer

_KEY_MARKS = lazy_pattern(r"[\W_]+")
# ASCII without entities. Its last character may belong to what follows; the others have the same letters anywhere.
_PLAIN_BEGIN = lazy_pattern(r"[\x00-\x25\x27-\x7e]{2,40}")
_QUOTED_KEY = lazy_pattern(r"[\"'“”‘’`]\s*[:：]")
_QUOTES = str.maketrans("'`=", '"":', " ")  # what blanks were kept makes no difference here
_AFTER_QUOTED_KEY = (('":"', '"'), ('":', ","), ('":', "}"), ('":["', '"'), (',"', '"'))
_AFTER_ANY_KEY = ((':"', '"'), (':["', '"'))


def is_copied(events: Events, source: str | None, thought: str, normalized: str) -> bool:
    """Whether the thought holds the answer's own JSON, or most of its types and values as members of JSON.

    Its own JSON is there if its letters and digits are, one behind the other: whatever its marks were replaced by.

    A member is a value behind a quoted key and a colon, or in a list behind one; where there are
    braces, a quoted value behind any key. An event type may be a quoted key itself.
    """
    if not events.units:
        return False
    if source is not None:
        unescaped = normalize(_unescaped(thought)) if "&" in thought else normalized
        if _is_repeated(events, source, unescaped):
            return True
    if not _has_structure(thought):
        return False
    squeezed = normalized.translate(_QUOTES)
    types = {normalize(event_type).translate(_QUOTES) for event_type in events.units}
    written = types | {argument.translate(_QUOTES) for pairs in events.units.values() for _, argument in pairs}
    around = _AFTER_QUOTED_KEY + (_AFTER_ANY_KEY if "{" in squeezed else ())
    member_of = {before + value + after: value for value in written for before, after in around}
    member_of.update({f'"{event_type}":': event_type for event_type in types})
    members = {member_of[member] for member in contained_values(member_of, squeezed)}
    return len(members) >= COPIED_SHARE * len(written)


def _is_repeated(events: Events, source: str, thought: str) -> bool:
    """Whether the letters of the answer's JSON are in the normalized thought, those of keys such as `argument` too.

    A flat answer has no such names: `Person: Ann` in words has the same letters.
    """
    begin = _PLAIN_BEGIN.match(source)  # the first key, in most answers: most thoughts do not have it
    first = "" if begin is None else _begin_letters(begin.group()[:-1])
    if first and (first[0] not in thought or first[-1] not in thought):  # Chinese has none of the letters of a key
        return False
    in_thought = _letters(thought)
    if first not in in_thought:
        return False
    letters = _letters(normalize(_unescaped(source)))
    words = "".join(
        [part for event_type, roles, texts, _, _ in events.columns for part in (event_type, *roles, *texts)]
    )
    return len(letters) > len(_letters(normalize(_unescaped(words)))) and letters in in_thought


def _unescaped(text: str) -> str:
    """A text with the characters of HTML that its entities stand for."""
    from html import unescape  # 2 ms to import, for protocols that check thoughts

    return unescape(text)


@lru_cache(maxsize=256)  # most answers of a model begin alike
def _begin_letters(begin: str) -> str:
    return _letters(normalize(begin))


def _letters(normalized: str) -> str:
    """Letters and digits alone: JSON in other quotes, escaped once more or as YAML has the same ones."""
    if normalized.isascii():
        return normalized.encode().translate(None, ASCII_SIGNS).decode()
    return _KEY_MARKS.sub("", normalized)


def _has_structure(thought: str) -> bool:
    """Whether there is a brace, or a quoted key and its colon, as models write them: `Person: "Ann"` has neither."""
    if "{" in thought or "｛" in thought:
        return True
    return _QUOTED_KEY.search(thought) is not None


THOUGHT_VERSION = 3  # in the signature; 1 counted negations, copies of the text and copies of the answer, 2 the last
CHECKED, SKIPPED, PARSE_FAIL = "cot_checked", "cot_skipped", "cot_parse_fail"
_DISABLED = "metrics.cot.enabled is false"


class ThoughtRates(RatioMeasure[Facts]):
    """Every sample falls into one of three buckets; the rates are over the checked ones, gates on them over all.

    A thought is faithful if its types and arguments are those of the answer.
    """

    section = "diagnostics"
    table = "thought"
    columns = (
        "type_consistent",
        "argument_consistent",
        "faithful",
        "copied",
        CHECKED,
        SKIPPED,
        PARSE_FAIL,
        UNITS_COLUMN,
    )
    counted = {name: name for name in (CHECKED, SKIPPED, PARSE_FAIL)}

    def __init__(self, settings: CotSettings) -> None:
        self.enabled = settings.enabled
        nothing = "no thought was checked" if self.enabled else _DISABLED
        no_samples = "there are no samples" if self.enabled else _DISABLED
        rates = {
            "cot_type_consistency": "type_consistent",
            "cot_argument_consistency": "argument_consistent",
            "cot_faithfulness": "faithful",
        }
        self.ratios = {
            **{name: over(column, CHECKED, nothing) for name, column in rates.items()},
            "cot_copied_rate": ColumnRatio({"copied": 1}, {CHECKED: 1, "copied": 1}, nothing),
            "cot_coverage_rate": over(CHECKED, UNITS_COLUMN, no_samples),
        }
        # Over the checked ones, a model would pass by leaving out the thoughts that are bad.
        self.gate_note = "a sample without a checked thought is a miss"
        self.gate_ratios = {name: over(column, UNITS_COLUMN, no_samples) for name, column in rates.items()}

    def row(self, facts: Facts) -> Counts | None:
        check = facts.thought
        if check is None:
            return None
        bucket, types, arguments = check["bucket"], check["type_consistent"], check["argument_consistent"]
        buckets = (bucket == CHECKED, bucket == SKIPPED, bucket == PARSE_FAIL)
        return (*map(int, (types, arguments, types and arguments, check["copied"], *buckets)), 1)

    def metrics(self, tally: Tally) -> Metrics:
        metrics = super().metrics(tally)
        return metrics if self.enabled else metrics | {name: Count(None, _DISABLED) for name in self.counted}


class ThoughtChecker:
    """Checks one sample's thought against its answer."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema) -> None:
        self.require_block = settings.cot.require_thought_block
        self.strict = settings.cot.mode == "strict_span"
        self.keeps_blanks = settings.blanks == "keep"
        roles = (role for roles in schema.roles.values() for role in roles)
        self.negating_names = negating_names([*schema.event_types, *roles])
        folded = [name.casefold() for name in schema.event_types]
        self.has_case = any(name.upper() != name.lower() for name in schema.event_types)  # Chinese has none
        # The longer names that a name is part of, with where in them it stands.
        self.longer = {
            name: [(other, at) for other in folded if other != name for at in positions_of(other, name)]
            for name in folded
        }
        # A name, its folded form, and whether any occurrence of that is a mention.
        self.types = [
            (name, word, not self.longer[word] and word[0] not in LATIN and word[-1] not in LATIN)
            for name, word in zip(schema.event_types, folded, strict=True)
        ]

    def check(self, facts: Facts) -> CotRecord:
        """How the thought of a sample compares with its answer."""
        parsed = facts.parsed
        if parsed is None or parsed.status == Status.ERROR or parsed.thought_state == ThoughtState.UNCLOSED:
            return _check_record(PARSE_FAIL)
        thought = parsed.thought.strip()
        if not thought and not self.require_block:
            thought = parsed.preamble.strip()
        thought = thought[:MAX_THOUGHT]
        if not thought:
            return _check_record(SKIPPED)
        affirmed = without_negations(facts.predicted, thought, self.negating_names)
        folded = affirmed.casefold() if self.has_case else affirmed
        predicted = facts.predicted.units.keys()
        mentioned = [
            name for name, word, always in self.types if word in folded and (always or self._is_mentioned(folded, word))
        ]
        more_is_fine = not self.strict and len(predicted) > 0
        type_consistent = predicted <= set(mentioned) and (len(mentioned) == len(predicted) or more_is_fine)
        parts = affirmed.split("\n")
        lines = [*map(normalize_with_blanks, parts)] if self.keeps_blanks else normalize_all(parts)
        counted = without_copies(facts.predicted, lines, "" if facts.text is None else facts.text.normalized)
        if self.keeps_blanks and not self.strict:
            counted = [join_words(counted)]  # a line end is a blank, too
        missing = first_missing(facts.predicted, thought, counted, self.strict)
        normalized = "".join(lines) if affirmed is thought else normalize(thought)  # a line end joins no two characters
        if is_copied(facts.predicted, parsed.source, thought, normalized):
            return _check_record(SKIPPED, copied=True)
        return _check_record(CHECKED, type_consistent, missing is None, mentioned, missing)

    def _is_mentioned(self, folded: str, name: str) -> bool:
        """Whether the name stands somewhere by itself: not inside a longer type's name, not inside a word."""
        longer = self.longer[name]
        at = folded.find(name)
        while at >= 0:
            if is_whole_word(folded, at, name):
                for other, inside in longer:
                    if at >= inside and folded.startswith(other, at - inside):
                        break
                else:
                    return True
            at = folded.find(name, at + 1)
        return False


def _check_record(
    bucket: str,
    type_consistent: bool = False,
    argument_consistent: bool = False,
    mentioned: list[str] | None = None,
    missing: Unit | None = None,
    copied: bool = False,
) -> CotRecord:
    """The check as it is stored; only the bucket, and whether it was copied, where a thought was not checked."""
    return {
        "bucket": bucket,
        "type_consistent": type_consistent,
        "argument_consistent": argument_consistent,
        "mentioned": mentioned,
        "missing": missing,
        "copied": copied,
    }
