"""Text for judging: folded for comparison, reduced to letters, and checked for saying anything at all.

Folding is NFC, white space, curly quotes, dashes and soft hyphens. Never case, and nothing is fuzzy: a sentence and
its negation are 99 % alike. Quotes are located in their source under the same folding. Blanks, invisible characters,
punctuation and "unknown" say nothing; function words and boilerplate are evidence of nothing; a claim that repeats its
question or cannot be false claims nothing. Empty quotes and claims are recognized in English and Chinese.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from html import unescape
from itertools import islice, pairwise
from typing import Any, NamedTuple
from unicodedata import category, decomposition, is_normalized, normalize

from goldgate.core.value_text import PILE_SIZE, piled_marks, segment_starts

FOLDING = "nfc-space-quotes-dashes.v1"  # stands in the signature

_FOLDED_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
        "\u00ad": None,  # soft hyphen
        "\u200b": None,  # zero width space
        "\ufeff": None,  # byte order mark inside a text
    }
)

# Default_Ignorable_Code_Point of Unicode: joiners, selectors, fillers, marks of direction, tags.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)


def nfc(text: str) -> str:
    """The text in NFC; as it is where marks are piled up by the dozen, which would take time without end."""
    return text if is_normalized("NFC", text) or has_piled_marks(text) else normalize("NFC", text)


def visible_text(text: str) -> str:
    """The text in NFKC without invisible characters: for texts that look alike, not for finding quotes in sources."""
    if text.isascii():
        return text
    visible = _IGNORABLE.sub("", text)
    return visible if is_normalized("NFKC", visible) or has_piled_marks(visible) else normalize("NFKC", visible)


def fold(text: str) -> str:
    """The text folded, without outer white space."""
    return " ".join(plain_fold(text).split())


def plain_fold(text: str) -> str:
    """The text folded, its white space as it is."""
    return text if text.isascii() else nfc(text).translate(_FOLDED_CHARACTERS)  # nothing in the table is ASCII


def has_piled_marks(text: str) -> bool:
    """Whether a letter has more combining marks than in Unicode's stream-safe text (UAX 15): sorting is quadratic."""
    return not has_few_marks(text) and piled_marks().search(text) is not None


def has_few_marks(text: str) -> bool:
    """True if not even all characters beyond ASCII would be a pile; False says nothing."""
    return len(text) - len(text.encode("ascii", "ignore")) < PILE_SIZE


_LOWER = bytes(code + 32 if 65 <= code <= 90 else code for code in range(256))
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_SIGNS_AND_DIGITS = bytes(code for code in range(128) if not chr(code).isalpha())
_BEYOND_ASCII = bytes(range(128, 256))
_RARE_LETTERS = (b"k", b"w", b"g")  # rare ones are counted fast


def letters_of(text: str) -> bytes:
    """The ASCII letters in lower case, in their order; characters beyond ASCII stay as they are."""
    return text.encode("utf-8", "replace").translate(_LOWER, _SIGNS_AND_DIGITS)


def letter_profile(text: str) -> tuple[int, ...]:
    """The number of letters and digits of a text, and how often it has k, w and g; equal for any order of its parts.

    Texts that differ nearly always have other profiles, and a profile takes a fraction of folding a text.
    """
    plain = visible_text(text).encode("utf-8", "replace").translate(_LOWER, _SIGNS + _BEYOND_ASCII)
    return (len(plain), *map(plain.count, _RARE_LETTERS))


# Letters to Unicode, and nothing to a reader: the fillers of Hangul. And the empty pattern of Braille.
_INVISIBLE = str.maketrans(dict.fromkeys("\u115f\u1160\u3164\uffa0\u2800"))
LETTER_MARK = "x"
_DIGIT = re.compile("[0-9]")  # nearly all ids have one, and no word for nothing has
_MAX_PLACEHOLDER = 64  # no way of saying "unknown" is longer

# As they are left when everything but letters and digits is taken away.
_PLACEHOLDER_IDS = frozenset(
    "unknown na none null nil nan tbd todo undefined missing unspecified notavailable notapplicable".split()
)

MAX_EMPTY_QUOTE = 120  # characters of a quote that may be boilerplate or function words
_MAX_TAUTOLOGY = 400  # characters
_MIN_CHUNK = 120  # bytes; a shorter chunk may well be quoted whole
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’][^\W\d_]+)?")
_FUNCTION_WORDS = frozenset(
    "a an the this that these those it its he him his she her hers they them their theirs we us our ours you your "
    "yours i me my mine who whom whose which what when where why how of in on at by for with from to into onto "
    "upon about as than then so if or and but nor yet not no is are was were be been being am do does did done "
    "has have had having will would shall should can could may might must there here all any each some such both "
    "either neither more most very too also just only own same other up down out off over under again further "
    "once because while until during before after between through against".split()
) | frozenset(
    "的了是在和与及或也都而且就着过地得之其这那它他她们我你您并但因所以"
    "为于由从对把被让向到将会能可要有没不个吗呢吧啊么什谁哪"
)
_NEGATIONS = frozenset("not no nor never neither without none 不 没 未 无 非 否".split())
# Words of claims about the evidence itself, or about nothing.
_EMPTY_WORDS = frozenset(
    "evidence source sources document documents text passage article chunk quote quoted question answer answers claim "
    "statement information provided mentioned mentions stated states says said according relevant true fact facts "
    "supported supports see above below following contains discusses describes addresses something thing things exist "
    "exists existed happen happens happened occur occurs occurred certain various case".split()
)
_EMPTY_WORDS_CHINESE = re.compile(
    "来源|证据|资料|文本|文章|文档|原文|问题|答案|提到|提及|说明|相关|信息|内容|存在|发生|事情|事实|某些?|参见|上述|以下|根据|显示|表明"
)
_NAVIGATION = re.compile(
    r"[\W_]*(?:(?:all rights reserved|copyright|terms of (?:use|service)|terms and conditions|(?:privacy|cookie) "
    r"(?:policy|notice|settings)|(?:we|this (?:web)?site) uses? cookies|accept (?:all )?cookies|table of contents|"
    r"click here|(?:read|learn|see|show) more|sign (?:in|up)|log ?(?:in|out)|subscribe(?: now)?|"
    r"(?:contact|about|follow) us|share this(?: article| page)?|back to top|skip to (?:main )?content|advertisement|"
    r"disclaimer|page|and|or|the|our|to|of|版权所有|保留所有权利|保留一切权利|免责声明|隐私政策|使用条款|服务条款|点击(?:这里|此处)|阅读更多|"
    r"查看更多|返回顶部|上一页|下一页|目录|登录|注册|广告|关注我们|联系我们|关于我们|第[\W_]*页|共[\W_]*页)(?![a-z])[\W_]*)+"
)
_COPYRIGHT = re.compile(r"\s*(?:©|\(c\)|copyright (?:©|\(c\)|\d)|版权所有)")
_DIGITS = re.compile(r"\d+")
_NUMBERING = re.compile(r"\A\W*\d+[.):\]]\s+|[#(\[]?\b\d+\W*\Z")
# An end of a sentence with more behind it; short words before a full stop are abbreviations.
_SENTENCE_END = re.compile(r"(?:\w{4}|\d)[.!?][\"”'’)]*\s+\S[\s\S]{20}|[。！？；][\s\S]{7}|\n\S[\s\S]{20}")
_ARTICLES = frozenset("a an the 就 也 便 正".split())
_COPULAS = frozenset("is are was were be means equals 是 即".split())
_AUXILIARY = "(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|may|might|shall|should)"
_OR_NOT = re.compile(rf"\b{_AUXILIARY} or {_AUXILIARY} ?n[o']t\b|(?<!whether )\bor not\W*\Z")
_OR_NOT_CHINESE = re.compile("可能[^。]{0,40}也可能[不没未]|要么[^。]{0,40}要么[不没未]|(.{1,12})或者?[不没未]有?\\1")
_OR_IT_IS_NOT = re.compile(
    rf"(.*)\bor (?:(?:it|he|she|they|this|that|there|the \w+) )?{_AUXILIARY}(?: not|n't)\b(.*)", re.DOTALL
)
_IF_SO_THEN_SO = re.compile(r"(?:如果|若|要是)(.{1,80}?)[，,]?\s*(?:那么|那|则|就)会?\1")
_REPEATED, _NOTHING = "question repeated", "nothing that could be false"
_YES_OR_NO = frozenset(
    "is are was were am do does did has have had can could will would shall should may might must".split()
)
_CHECKING = frozenset("whether if or verify confirm check".split())
_CHECKING_CHINESE = re.compile("吗|是否|是不是|有没有|还是|或者|核实|验证|确认|判断")


def empty_quote_reason(quote: str) -> str | None:
    """Why a quote is evidence of nothing: `function words` or `boilerplate`; None if it may be some."""
    if len(quote) > MAX_EMPTY_QUOTE:
        return None
    lower = quote.casefold()
    if all(word[0] in _FUNCTION_WORDS for word in _TOKEN.finditer(lower)):  # which mostly ends with the first word
        return "function words"
    bare = quote.strip(" \n\t.,;:()'\"")
    if len(bare) <= 3 and bare.isascii() and bare.isalpha() and bare.islower():
        return "function words"  # or one of another language, or a part of a word
    copyright_line = _COPYRIGHT.match(lower) or "all rights reserved" in lower or "保留所有权利" in lower
    return "boilerplate" if copyright_line or _NAVIGATION.fullmatch(_DIGITS.sub("", lower)) else None


def has_several_sentences(text: str) -> bool:
    """Whether a text is so long that quoting all of it points at nothing: two sentences, and 120 bytes as UTF-8."""
    return len(text.encode("utf-8", "replace")) >= _MIN_CHUNK and _SENTENCE_END.search(text) is not None


def question_words(objective: str) -> Counter[str] | None:
    """The words that say what is asked; None for a question that its own words can answer: yes or no, this or that."""
    words = _words(objective)
    if not _YES_OR_NO.isdisjoint(words[:1]) or not _CHECKING.isdisjoint(words) or _CHECKING_CHINESE.search(objective):
        return None
    return Counter(word for word in words if word not in _FUNCTION_WORDS)


def empty_claim_reason(statement: str, asked: Counter[str] | None) -> str | None:
    """Why a claim is empty: `question repeated` or `nothing that could be false`; None if it may be wrong."""
    if statement.rstrip().endswith(("?", "？")):
        return _NOTHING
    words = _words(statement if statement.isascii() else _EMPTY_WORDS_CHINESE.sub(" ", statement))
    content = [word for word in words if word not in _FUNCTION_WORDS and word not in _EMPTY_WORDS]
    if _NEGATIONS.isdisjoint(words):
        if not content:
            return _NOTHING
        if asked and asked.keys() >= set(content) and Counter(content) <= asked and 2 * len(content) >= asked.total():
            return _REPEATED
    if len(statement) > _MAX_TAUTOLOGY:
        return None
    lower = statement.casefold()
    without_number = _NUMBERING.sub("", lower)  # "A is A (7)"
    tautology = _is_tautology(lower, words) or (
        without_number != lower and _is_tautology(without_number, _words(without_number))
    )
    return _NOTHING if tautology else None


def _is_tautology(statement: str, words: list[str]) -> bool:
    """A rose is a rose; it froze or did not freeze; if it froze then it froze."""
    bare = [word for word in words if word not in _ARTICLES]
    middle = len(bare) // 2
    if len(bare) % 2 and bare[middle] in _COPULAS and bare[:middle] == bare[middle + 1 :]:
        return middle > 0
    if bare[:1] == ["if"] and "then" in bare and bare[1 : bare.index("then")] == bare[bare.index("then") + 1 :]:
        return True
    if not statement.isascii() and (_OR_NOT_CHINESE.search(statement) or _IF_SO_THEN_SO.match(statement)):
        return True
    if " or " not in statement:
        return False
    if _OR_NOT.search(statement):
        return True
    halves = _OR_IT_IS_NOT.match(statement)
    if halves is None:
        return False
    before, after = ({word[:2] for word in _words(half) if word not in _FUNCTION_WORDS} for half in halves.groups())
    return after <= before


def _words(text: str) -> list[str]:
    """The words in lower case; Chinese ones character by character."""
    return _TOKEN.findall(text.casefold())


def has_letter_or_digit(text: str) -> bool:
    """Whether there is a letter or a digit in it that can be seen and stands for itself."""
    return any(map(str.isalnum, text) if text.isascii() else map(is_letter_or_digit, text.translate(_INVISIBLE)))


def mark_letters(text: str) -> str:
    """A text of the same length, with `LETTER_MARK` in place of each visible letter or digit and a dot elsewhere."""
    return text.translate({ord(sign): LETTER_MARK if has_letter_or_digit(sign) else "." for sign in set(text)})


def is_letter_or_digit(sign: str) -> bool:
    """Whether a sign is a letter or a digit of its own.

    Modifier letters only change or lengthen another one (`ʼ`, `ː`, the Arabic tatweel, the Japanese `ー`), and what is
    raised refers to something (`ª`, `²`): all of them stand in any text, or look like punctuation.
    """
    if sign.isascii():
        return sign.isalnum()
    return sign.isalnum() and category(sign) != "Lm" and not decomposition(sign).startswith("<super>")


def is_invisible(text: str) -> bool:
    """Whether the text has no visible character."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text.translate(_INVISIBLE))


def is_meaningful_id(value: object) -> bool:
    """Whether an identifier says where something comes from."""
    if type(value) is not str:
        return False
    if _DIGIT.search(value) is not None:
        return True
    visible = "".join(filter(is_letter_or_digit, value.translate(_INVISIBLE)))
    if len(visible) > _MAX_PLACEHOLDER:
        return True
    return visible != "" and normalize("NFKC", visible).casefold() not in _PLACEHOLDER_IDS


_SHA256 = re.compile(r"[0-9a-f]{64}")


def sha256_of(value: object) -> str | None:
    """The hex digits of a recorded SHA-256, with or without `sha256:` before them; None if it is no such hash."""
    if type(value) is not str:
        return None
    digits = value.strip().lower().removeprefix("sha256:")
    return digits if _SHA256.fullmatch(digits) else None


_HTML_START = re.compile(
    r"\s*(?:<\?[^<>]*>\s*)?(?:<!--(?:(?!-->)[\s\S]){0,2000}-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|div|p|h[1-6]|article|section|"
    r"main|table|ul|ol|span|a|br|script|style)\b",
    re.IGNORECASE,
)
# Comments and scripts with what is in them, then tags: those that are inline separate no words.
_MARKUP = re.compile(
    r"<!--[\s\S]*?(?:-->|\Z)|<(script|style|template)\b[^<>]*>[\s\S]*?(?:</\1\b[^<>]*>|\Z)|"
    r"(?P<inline></?(?:abbr|a|bdi|bdo|big|b|cite|code|dfn|em|font|ins|i|kbd|mark|q|samp|small|span|strong|sub|sup|s|tt|"
    r"u|var|wbr)(?![a-z0-9])[^<>]*>)|</?[a-z][^<>]*>|<[!?][^<>]*>",
    re.IGNORECASE,
)


def is_html(text: str) -> bool:
    """Whether a text begins as a page or a part of a page does."""
    return _HTML_START.match(text) is not None


def html_text(text: str) -> str:
    """What a page shows: its text without tags, comments and scripts; a tag that is not inline separates words."""
    visible = _MARKUP.sub(lambda tag: "" if tag["inline"] else "\n", text)
    try:
        return unescape(visible)
    except ValueError:  # a character reference of thousands of digits
        return visible


MAX_NEAREST_QUOTE = 160  # characters of a quote that is nowhere, and of the text that is most like it
MAX_SEEDS = 12  # words of a quote by which text like it is looked for
_SEED = re.compile(r"[A-Za-z0-9]{4,}|[^\W\x00-\x7f]{3}")  # in a text without blanks there are no words
_RAREST, _MAX_WINDOWS = 3, 4  # words whose surroundings are compared, and how many of each
_REST_OF_WORD = re.compile(r"\w{0,20}")


def nearest_text(quote: str, text: str) -> str | None:
    """The part of the text that is most like the beginning of the quote; None if hardly any is. Both are folded.

    Compared are the surroundings of the quote's rarest words, by the share of pairs of characters.
    """
    quote = quote[:MAX_NEAREST_QUOTE]
    seeds = sorted((-len(seed[0]), seed.start(), seed[0]) for seed in _SEED.finditer(quote))[:MAX_SEEDS]
    rarest = sorted((count, at, seed) for _, at, seed in seeds if (count := text.count(seed)))[:_RAREST]
    starts = {
        max(0, place.start() - at)
        for _, at, seed in rarest
        for place in islice(re.finditer(re.escape(seed), text), _MAX_WINDOWS)
    }
    pairs = {*pairwise(quote)}
    shared = {start: len(pairs & {*pairwise(text[start : start + len(quote)])}) for start in sorted(starts)}
    best = max(shared, key=shared.__getitem__, default=None)
    if best is None or 2 * shared[best] <= len(pairs):
        return None
    end = _REST_OF_WORD.match(text, best + len(quote))
    return text[best : end.end() if end is not None else None].replace("\0", " ").strip()


MAX_PLACES = 20  # of one quote in one source


class TextRange(NamedTuple):
    """Characters of the source, the end exclusive."""

    start: int
    end: int


class SourceText:
    """A source text that is folded once, and only if a quote is not found in it verbatim."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: tuple[str, array[int], array[int]] | None = None

    @property
    def is_folded(self) -> bool:
        return self._folded is not None

    def places(self, quote: str | None, span: TextRange | None, most: int = MAX_PLACES) -> list[TextRange]:
        """Where a quote stands: at its span if that is right, else wherever it is; none if it is nowhere."""
        return self.exact_places(quote, span, most) or self.folded_places(quote or "", most)

    def exact_places(self, quote: str | None, span: TextRange | None, most: int = MAX_PLACES) -> list[TextRange]:
        """Where a quote stands as it is written, or at its span if both are folded."""
        inside = span is not None and 0 <= span.start < span.end <= len(self.text)
        if quote is None:
            return [span] if span is not None and inside else []
        if span is not None and inside and fold(self.text[span.start : span.end]) == fold(quote):
            return [span]
        return _all_ranges(self.text, quote, most)

    def folded_places(self, quote: str, most: int = MAX_PLACES) -> list[TextRange]:
        """Where a quote stands if both are folded."""
        if self._folded is None:
            self._folded = _fold_with_offsets(self.text)
        folded, starts, ends = self._folded
        return [TextRange(starts[at], ends[end - 1]) for at, end in _all_ranges(folded, fold(quote), most)]


def offset_of_quote(text: str, folded_quote: str) -> int | None:
    """Where in the unfolded text the folded quote begins; None if it is not there."""
    return next((place.start for place in SourceText(text).folded_places(folded_quote, 1)), None)


def _all_ranges(text: str, part: str, most: int) -> list[TextRange]:
    ranges: list[TextRange] = []
    at = text.find(part) if part else -1
    while at >= 0 and len(ranges) < most:
        ranges.append(TextRange(at, at + len(part)))
        at = text.find(part, at + len(part))
    return ranges


def _fold_with_offsets(text: str) -> tuple[str, array[int], array[int]]:
    """The folded text, and for each of its characters where the piece begins and ends that it comes from."""
    characters: list[str] = []
    starts, ends = array("q"), array("q")
    for start, end in pairwise([*segment_starts(text), len(text)]):
        for character in plain_fold(text[start:end]):  # a mark may be on white space: `\n\u0301` is one piece
            if character.isspace():
                if characters[-1:] == [" "]:
                    ends[-1] = end
                    continue
                character = " "
            characters.append(character)
            starts.append(start)
            ends.append(end)
    return "".join(characters), starts, ends


def text_range(span: Any) -> TextRange | None:
    """The span of an evidence record; None if it has none that can be read."""
    if type(span) is not dict or type(span.get("start")) is not int or type(span.get("end")) is not int:
        return None
    return TextRange(span["start"], span["end"])
