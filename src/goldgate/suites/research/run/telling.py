"""Whether a text says anything at all: blanks, invisible characters, punctuation and "unknown" do not.

And whether a quote or a claim does: function words, boilerplate and whole chunks are evidence of nothing, and a claim
that repeats its question or cannot be false claims nothing. In English and Chinese; all else is taken to say something.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from unicodedata import category, decomposition, normalize

# Letters to Unicode, and nothing to a reader: the fillers of Hangul. And the empty pattern of Braille.
_INVISIBLE = str.maketrans(dict.fromkeys("\u115f\u1160\u3164\uffa0\u2800"))
TELLING = "x"
_DIGIT = re.compile("[0-9]")  # nearly all ids have one, and no word for nothing has
_LONGEST_WORD = 64  # no way of saying "unknown" is longer

# As they are left when everything but letters and digits is taken away.
_SAYS_NOTHING = frozenset(
    "unknown na none null nil nan tbd todo undefined missing unspecified notavailable notapplicable".split()
)

LONGEST_EMPTY = 120  # characters of a quote that may be boilerplate or function words
_LONGEST_TAUTOLOGY = 400  # characters
_LEAST_CHUNK = 120  # bytes; a shorter chunk may well be quoted whole
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
_ABOUT_NOTHING = frozenset(
    "evidence source sources document documents text passage article chunk quote quoted question answer answers claim "
    "statement information provided mentioned mentions stated states says said according relevant true fact facts "
    "supported supports see above below following contains discusses describes addresses something thing things exist "
    "exists existed happen happens happened occur occurs occurred certain various case".split()
)
_ABOUT_NOTHING_CHINESE = re.compile(
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


def empty_quote(quote: str) -> str | None:
    """Why a quote is evidence of nothing: `function words` or `boilerplate`; None if it may be some."""
    if len(quote) > LONGEST_EMPTY:
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
    return len(text.encode("utf-8", "replace")) >= _LEAST_CHUNK and _SENTENCE_END.search(text) is not None


def asked_words(objective: str) -> Counter[str] | None:
    """The words that say what is asked; None for a question that its own words can answer: yes or no, this or that."""
    words = _words(objective)
    if not _YES_OR_NO.isdisjoint(words[:1]) or not _CHECKING.isdisjoint(words) or _CHECKING_CHINESE.search(objective):
        return None
    return Counter(word for word in words if word not in _FUNCTION_WORDS)


def empty_claim(statement: str, asked: Counter[str] | None) -> str | None:
    """Why a claim is empty: `question repeated` or `nothing that could be false`; None if it may be wrong."""
    if statement.rstrip().endswith(("?", "？")):
        return _NOTHING
    words = _words(statement if statement.isascii() else _ABOUT_NOTHING_CHINESE.sub(" ", statement))
    content = [word for word in words if word not in _FUNCTION_WORDS and word not in _ABOUT_NOTHING]
    if _NEGATIONS.isdisjoint(words):
        if not content:
            return _NOTHING
        if asked and asked.keys() >= set(content) and Counter(content) <= asked and 2 * len(content) >= asked.total():
            return _REPEATED
    if len(statement) > _LONGEST_TAUTOLOGY:
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


def telling(text: str) -> bool:
    """Whether there is a letter or a digit in it that can be seen and stands for itself."""
    if text.isascii():
        return any(map(str.isalnum, text))
    return any(map(tells, text.translate(_INVISIBLE)))


class _Marks(dict[int, str]):
    """What each character is in `mark_telling`: each is looked up once."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        mark = self[code] = TELLING if tells(sign) and code not in _INVISIBLE else "."
        return mark


def mark_telling(text: str) -> str:
    """A text of the same length, with `TELLING` where a letter or a digit tells something and a dot elsewhere."""
    return text.translate(_Marks())


def tells(sign: str) -> bool:
    """Whether a sign is a letter or a digit of its own.

    Modifier letters only change or lengthen another one (`ʼ`, `ː`, the Arabic tatweel, the Japanese `ー`), and what is
    raised refers to something (`ª`, `²`): all of them stand in any text, or look like punctuation.
    """
    if sign.isascii():
        return sign.isalnum()
    return sign.isalnum() and category(sign) != "Lm" and not decomposition(sign).startswith("<super>")


def is_blank(text: str) -> bool:
    """Whether nothing of it can be seen."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text.translate(_INVISIBLE))


def says_something(value: object) -> bool:
    """Whether an identifier says where something comes from."""
    if type(value) is not str:
        return False
    if _DIGIT.search(value) is not None:
        return True
    return _known(value) if len(value) <= _LONGEST_WORD else _identifies(value)  # only short ones are remembered


@lru_cache(maxsize=4096)
def _known(value: str) -> bool:
    return _identifies(value)


def _identifies(value: str) -> bool:
    seen = "".join(filter(tells, value.translate(_INVISIBLE)))
    if len(seen) > _LONGEST_WORD:
        return True
    return seen != "" and normalize("NFKC", seen).casefold() not in _SAYS_NOTHING
