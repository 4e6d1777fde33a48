"""Requests to a model: what is asked, what comes back, and what it costs.

A plan is everything that determines the requests of a run. Each request has a key, a hash of the plan, the document
and the seed, so answers to different questions can share one journal. The outcome of a request is a `ModelAnswer` or
a `NoAnswer` with its reason. `RequestBudget` keeps tokens and money under a cap, including requests in flight.

`FormatLadder` orders the response formats of a plan from the most to the least demanding. With `auto`, the first
question is asked in one after the other until it is answered; all others are then asked in that format.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson

from goldgate.core.task import ANSWER_FORMATS, AnswerFormat, Message, Question, Task
from goldgate.errors import ConfigError, did_you_mean
from goldgate.protocol import GenerationSettings, Price

if TYPE_CHECKING:
    from goldgate.generation.journal import JournalContents, LineRef

MAX_ANSWER_TOKENS = 1_000_000_000  # of one answer; an endpoint that says more does not count

# What can be done about it:
# busy      ask again later, as often as it takes (429)
# again     ask again, a limited number of times (408, 409, 425, 5xx, a body without an answer)
# format    the response format is not supported
# unclear   this request is refused (400, 422), perhaps for its response format
# final     this request will never be answered (other 4xx, a document that is too long)
# hopeless  no request will be answered: wrong key, unknown model, no money left
FailureKind = Literal["busy", "again", "format", "unclear", "final", "hopeless"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the model's server counted them. Reasoning tokens are part of the output."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    estimated: bool = False  # the server sent no counts, and these are our own guess; not kept in a sum

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.output + other.output, self.reasoning + other.reasoning)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.input - other.input, self.output - other.output, self.reasoning - other.reasoning)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer of a model."""

    response: str
    usage: Usage | None = None
    finish_reason: str | None = None
    reasoning: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why there is no answer. `billed` is True where the endpoint may have worked, and charged, all the same.

    `undecided` is True where it is unknown what became of the request: it is asked again under the same id.
    """

    means: FailureKind
    cause: str
    detail: str = ""
    retry_after: float | None = field(default=None, compare=False)
    billed: bool = False
    undecided: bool = False
    usage: Usage | None = None  # where the reply said what it cost


TOKENS_PER_PRICE = Decimal(1_000_000)  # prices are for a million tokens
DEFAULT_OUTPUT_TOKENS = 2_048  # tokens, where the request sets no limit
TOKENS_PER_MESSAGE = 8  # tokens around each message


def estimate_tokens(encoded: bytes) -> int:
    """About how many tokens a text in UTF-8 has: one for a Chinese character or three letters. Rather too many."""
    return math.ceil(len(encoded) / 3)


def find_price(settings: GenerationSettings, model: str, *, needed: bool) -> Price | None:
    """The price of a model; None where the protocol has none, an error where a cap on money needs one."""
    price = settings.prices.get(model, settings.prices.get("default"))
    if price is None and needed:
        raise ConfigError(
            "budget.no_price",
            f"a cap on money needs the price of {model}",
            expected=f"generation.prices.{model} (or .default) in the protocol, with input and output",
            found="prices for " + ", ".join(settings.prices) if settings.prices else "no prices",
            advice=did_you_mean(model, settings.prices),
        )
    if price is not None and min(price.input, price.output) < 0:
        raise ConfigError("budget.negative_price", f"the price of {model} is below zero")
    return price


def compute_cost(usage: Usage, price: Price | None) -> Decimal | None:
    """Money for some tokens; None without a price."""
    if price is None:
        return None
    return (usage.input * price.input + usage.output * price.output) / TOKENS_PER_PRICE


@dataclass(slots=True)
class RequestBudget:
    """What was spent and what is reserved for requests in flight, against a cap on tokens and one on money."""

    price: Price | None = None
    max_tokens: int | None = None
    max_cost: Decimal | None = None
    spent: Usage = Usage()
    reserved: Usage = Usage()
    _estimated: int = 0  # of answered requests, to learn how far the estimate is off
    _counted: int = 0

    def expected(self, estimate: int, output: int) -> Usage:
        """The most that a request should cost; the estimate grows if the endpoint counts more tokens than goldgate."""
        factor = max(1.0, self._counted / self._estimated) if self._estimated else 1.0
        return Usage(math.ceil(estimate * factor), output)

    def exceeded(self, expected: Usage) -> str | None:
        """The cap that a request could exceed, if everything in flight costs what it may cost; None if it fits."""
        worst = self.spent + self.reserved + expected
        if self.max_tokens is not None and worst.total > self.max_tokens:
            return f"--max-total-tokens {self.max_tokens:,}"
        money = compute_cost(worst, self.price)
        if self.max_cost is not None and money is not None and money > self.max_cost:
            return f"--max-cost {self.max_cost}"
        return None

    def reserve(self, expected: Usage) -> None:
        self.reserved += expected

    def settle(self, expected: Usage, spent: Usage | None, estimate: int = 0) -> None:
        """A request is over: `spent` is what it cost, None if nothing."""
        self.reserved -= expected
        if spent is not None:
            self.spent += spent
            if estimate and not spent.estimated:
                self._estimated += estimate
                self._counted += spent.input

    def describe_caps(self) -> str:
        """The caps, in words."""
        caps = []
        if self.max_tokens is not None:
            caps.append(f"{self.max_tokens:,} tokens")
        if self.max_cost is not None:
            caps.append(f"a cost of {self.max_cost}")
        return " and ".join(caps)


PLAN_VERSION = 1  # raised whenever the same settings may give another request

Formats = tuple[AnswerFormat, ...]
ResponseFormat = Literal["auto", "json_schema", "json_object", "text"]
OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question, ready to be sent."""

    key: str
    id: str
    seed: int | None
    messages: list[Message]
    body: bytes
    estimate: int  # of its tokens
    plan: str = ""  # the identity of its builder
    form: AnswerFormat = "text"


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """What all requests of a run share. `source` names the endpoint or checkpoint, as it is stored."""

    task: Task
    source: Mapping[str, str]
    model: str
    parameters: Mapping[str, Any]
    seeds: tuple[int | None, ...]
    formats: Formats  # every format that it may be asked in, the first one first

    @property
    def output_limit(self) -> int:
        """The most tokens that an answer may have."""
        limits = [self.parameters[name] for name in OUTPUT_LIMITS if isinstance(self.parameters.get(name), int)]
        return max(limits, default=DEFAULT_OUTPUT_TOKENS)

    def settings(self) -> dict[str, Any]:
        """The plan in words, as it is stored; all but the response format."""
        return {
            "version": PLAN_VERSION,
            **self.source,
            "model": self.model,
            **self.task.settings,
            "parameters": dict(self.parameters),
        }

    def base(self) -> str:
        """A hash of the plan without its response format."""
        return _hash(orjson.dumps(self.settings(), option=orjson.OPT_SORT_KEYS))


def answer_formats(task: Task, response_format: ResponseFormat, *, takes_formats: bool = True) -> Formats:
    """The formats to ask in, the best one first. An answerer that takes none gets text, unless a format is named."""
    if response_format == "json_schema" and task.answer_schema is None:
        raise ConfigError(
            "response_format.no_schema",
            "--response-format json_schema needs a JSON Schema, and this task has none",
            advice="use --response-format json_object, text or auto",
        )
    if response_format != "auto":
        return (response_format,)
    return ANSWER_FORMATS[ANSWER_FORMATS.index(task.first_format if takes_formats else "text") :]


class RequestBuilder:
    """Makes the requests of a plan in one response format."""

    def __init__(self, plan: RequestPlan, form: AnswerFormat) -> None:
        self.plan = plan
        self.form = form
        self.identity = _hash(f"{plan.base()}:{form}".encode())
        fixed: dict[str, Any] = {"model": plan.model, **_format_field(form, plan.task), **plan.parameters}
        self._tail: dict[int | None, bytes] = {}
        for seed in plan.seeds:
            fields = {name: value for name, value in {"seed": seed, **fixed}.items() if value is not None}
            self._tail[seed] = b"," + orjson.dumps(fields)[1:]

    def make(self, question: Question, seed: int | None) -> ModelRequest:
        """The request for one question. It is the same, key and bytes, whenever it is made."""
        chat = question.messages
        encoded = encode_chat(chat)
        estimate = estimate_tokens(encoded) + TOKENS_PER_MESSAGE * len(chat)
        body = b'{"messages":' + encoded + self._tail[seed]
        key = self.key(question.id, seed, encoded)
        return ModelRequest(key, question.id, seed, chat, body, estimate, self.identity, self.form)

    def key(self, document_id: str, seed: int | None, encoded: bytes) -> str:
        """The key of the request with this chat."""
        return _hash(self.identity.encode(), orjson.dumps([document_id, seed]), encoded)


def encode_chat(chat: list[Message]) -> bytes:
    """A chat as it is sent."""
    return orjson.dumps([{"role": message.role, "content": message.content} for message in chat])


def _format_field(form: AnswerFormat, task: Task) -> dict[str, Any]:
    if form == "text":
        return {}
    schema = task.answer_schema
    if form == "json_object" or schema is None:
        return {"response_format": {"type": "json_object"}}
    described = {"name": schema.name, "strict": True, "schema": schema.schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))  # so that no two lists of parts run together
        digest.update(part)
    return digest.hexdigest()[:32]


QuestionPosition = tuple[int, int | None]  # position of a document in its task, and the seed of its question


class StoredQuestion(NamedTuple):
    """What a journal has of one question."""

    keys: list[str]  # keys of the question in every format, that of the run first
    place: LineRef | None = None  # of its answer in that format; None if there is none

    def without_answer(self, contents: JournalContents) -> list[Usage]:
        """Usage of each request for this question that may have been charged and gave no answer."""
        cut_off = [contents.in_flight[key].estimate for key in self.keys if key in contents.in_flight]
        usages = [usage for key in self.keys for usage in contents.unanswered.get(key, ())]
        return usages + [Usage(estimate, estimated=True) for estimate in cut_off]

    def unused(self, contents: JournalContents) -> list[LineRef]:
        """Answers to this question in other formats: paid for, and not counted as answers."""
        return [contents.answers[key] for key in self.keys[1:] if key in contents.answers]


class FormatLadder:
    """The requests of a plan in each of its formats, highest first; questions are asked in the format `form`.

    The first answer decides it: until then `form` is the highest that no earlier run has stepped down from.
    """

    def __init__(self, plan: RequestPlan, contents: JournalContents) -> None:
        self.plan = plan
        self.form = contents.format_for(plan.base(), plan.formats)
        self._steps = {form: RequestBuilder(plan, form) for form in plan.formats}
        self.answered = self.current.identity in contents.answered_plans

    def __getitem__(self, form: AnswerFormat) -> RequestBuilder:
        return self._steps[form]

    @property
    def current(self) -> RequestBuilder:
        return self._steps[self.form]

    @property
    def is_decided(self) -> bool:
        return self.answered or len(self._steps) == 1

    def find_all(
        self, contents: JournalContents, positions: Iterable[QuestionPosition]
    ) -> Iterator[tuple[QuestionPosition, Question, StoredQuestion]]:
        """Each question with what the journal has of it."""
        steps = (self.current, *(step for form, step in self._steps.items() if form != self.form))
        for position, seed in positions:
            question = self.plan.task.question(position, seed)
            encoded = encode_chat(question.messages)
            keys = [step.key(question.id, seed, encoded) for step in steps]
            yield (position, seed), question, StoredQuestion(keys, contents.answers.get(keys[0]))

    def next_lower_format(self, form: AnswerFormat) -> AnswerFormat | None:
        """The format to try after one that was refused; None if there is none."""
        forms = list(self._steps)
        return next(iter(forms[forms.index(form) + 1 :]), None)
