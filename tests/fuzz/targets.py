"""The doors through which foreign bytes come in, and what must hold behind each, whatever the bytes.

A target is a function of bytes that raises if a promise is broken. A GoldgateError is no broken promise where a user
gave the file: it says what is wrong with it. An InternalError is.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate import evaluate_outputs, load_scorer
from goldgate.core.suite import Plan
from goldgate.errors import GoldgateError, InternalError
from goldgate.readers.draw import judge_strata, load_draw
from goldgate.readers.id_index import IdIndex, Opener, index_files, join_indexes
from goldgate.readers.pair_files import PairOpener
from goldgate.readers.records import open_records
from goldgate.response import DEFAULT_THOUGHT_TAGS, fast_parse, slow_parse
from goldgate.response.parsed import Step
from goldgate.suites.extraction.events.answer_form import CANONICAL, Form, parse_response
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.judged.ask import open_judge_task
from goldgate.suites.judged.label_server import open_label_site
from goldgate.suites.judged.planning import sample_items
from goldgate.suites.judged.suite import JudgedSettings
from goldgate.suites.plan import load_protocol
from goldgate.suites.research.imports import import_runs
from goldgate.viewer.server import AccessControl, HttpRequest
from goldgate.viewer.site import parse_query
from tests.responses.corpus import load_corpus
from tests.responses.damage import strings
from tests.unit.readers.dialect_samples import SAMPLES
from tests.viewer.stored import require_harmless

ROOT = Path(__file__).parents[2]
EXTRACTION = ROOT / "examples" / "extraction"
RUN = ROOT / "examples" / "research" / "passing" / "run_a0"
GOLDEN = ROOT / "eval" / "golden_queries.json"


class Target(NamedTuple):
    """What is tried, and what to begin with."""

    check: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]


VIEW_REQUESTS = (
    b"/0/samples?in.error=boundary&in.role=~3&text=two%20words&order=file&page=2\nhost: 127.0.0.1:8642",
    b"/?token=x\nhost: localhost:8642\ncookie: goldgate-view-8642=x; a=b\norigin: http://localhost:8642",
    b"/compare/0/lost/3\nhost: [::1]:8642\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate",
)
LABELLING = (
    b'{"id": "a", "claim": "<b>", "quotes": ["c d", {"text": "e", "source": "d e f"}], "text": "b c\\td", "x": [1]}\n\n'
    b'{"id": "a", "label": true, "by": "ann", "kind": "human"}\n\ndo=1&note=a%0D%0Ab',
    b'{"goldgate_draw": 1, "n": 1}\n{"id": 3, "question": "q", "group": "g"}\n\n\n\ndo=unsure&note=',
)
FORMS = (CANONICAL, Form(mapping=True), Form(flat=True), Form(prefix='[{"event_type":'))
PROTOCOLS: list[dict[str, Any]] = [
    {"metrics": {"cot": {"enabled": True}}},
    {"metrics": {"response": {"arguments": "mapping", "null_words": ["none", "无"]}}},
    {"metrics": {"response": {"flat": {"event_type": {"from": "gold"}}}}},
]
GOLD = {
    "id": "1",
    "text": "甲公司 ab",
    "events": [{"event_type": "质押", "arguments": [{"role": "r", "argument": "甲"}]}],
}


def check_response(data: bytes) -> None:
    """No text makes the reader raise; `raw` decodes as it stands; nothing is invented; fast and slow ways agree."""
    text = data.decode("utf-8", "replace")
    for form in FORMS:
        parsed = parse_response(text, form=form)
        assert parsed.status in ("raw", "repaired", "error")
        assert set(parsed.repairs) <= set(Step)
        assert (parsed.status == "repaired") == (bool(parsed.repairs) and parsed.status != "error")
        assert parsed.status != "error" or parsed.value is None
        if parsed.status == "raw" and parsed.source is not None:
            assert orjson.loads(parsed.source) == parsed.value
        fast = fast_parse(text, DEFAULT_THOUGHT_TAGS, form)
        assert fast is None or fast == slow_parse(text, DEFAULT_THOUGHT_TAGS, form)
    if "\\" not in text and "<" not in text:  # neither escapes nor thoughts: a string is the text between its marks
        said = parse_response(text).value
        assert all(string in text for string in strings(said) if not _is_number(string))


def check_view_request(data: bytes) -> None:
    """No request gets past the door without the token, and any choice that an address makes can be made again."""
    target, *lines = data.decode("latin-1").split("\n")
    path, _, query = target.partition("?")
    headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    door = AccessControl(8642)
    asked = HttpRequest("GET", path, query, headers)
    assert door.refuse(asked) is not None
    assert door.admit(asked) is None
    choice = parse_query(query)
    assert parse_query(choice.query()[1:]) == choice


def check_labelling(data: bytes) -> None:
    """Items and labels of any kind are refused, or shown as text and labelled; what is labelled is there again."""
    parts = (data + b"\n\n").split(b"\n\n", 2)
    items, out = _file("items.jsonl", parts[0]), _file("labels.jsonl", parts[1])
    for _ in range(2):
        with _expected_errors():
            site = open_label_site(str(items), str(out), {"by": "ann"})
            try:
                require_harmless(site.respond(HttpRequest("GET", "/items/1", "saved=1")).html)
                assert site.respond(HttpRequest("POST", "/items/1", "", (), parts[2])).status in (303, 400)
                assert site.respond(HttpRequest("POST", "/items/1", "", (), b"do=2")).status == 303
                assert site.summary[0] != "0"
            finally:
                site.close()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_score(data: bytes) -> None:
    """Every response gets a score, and its record can be stored."""
    text = data.decode("utf-8", "replace")
    for scorer in _scorers():
        assert orjson.dumps(scorer.score(text, GOLD).record)


@cache
def _scorers() -> list[Any]:
    schema = {"event_types": {"质押": {"roles": ["r", "数量"]}}}
    return [load_scorer(schema, protocol) for protocol in PROTOCOLS]


def check_records(data: bytes) -> None:
    """A file of records is read, or refused with its place: as gold, as predictions, and both joined."""
    with _expected_errors():
        path = _file("records", data)
        with _indexed(path, "gold") as gold, _indexed(path, "predictions") as predictions:
            join_indexes(gold, predictions)
            for index, parse in ((gold, parse_gold), (predictions, parse_prediction)):
                for place in range(len(index)):
                    parse(index.record(place).value)


def check_published(data: bytes) -> None:
    """Gold of any dialect and predictions of any layout are read, or refused, whatever the file is called."""
    for name in ("published.jsonl", "published.csv", "published.eval"):
        with _expected_errors(), ExitStack() as opened:  # gold stays open: predictions may need its texts
            path = _file(name, data)
            opener = PairOpener()
            for kind, parse in (("gold", parse_gold), ("predictions", parse_prediction)):
                index = opened.enter_context(_indexed(path, kind, opener))
                for place in range(len(index)):
                    parse(index.record(place).value)


@contextmanager
def _indexed(path: Path, kind: str, opener: Opener = open_records) -> Iterator[IdIndex]:
    index = index_files([path], kind, opener)
    try:
        yield index
    finally:
        index.store.close()


def check_items(data: bytes) -> None:
    """Items are drawn and asked about, labels make strata and a draw is checked; or each is refused."""
    path = str(_file("items", data))
    with _expected_errors():
        draw = load_draw(path)
        draw.check(dict.fromkeys(draw.items, ""), draw.digests)
    with _expected_errors():
        judge_strata(path)
    with _expected_errors():
        sample_items(path, {"n": 3, "draw": 1, "by": "group"})
    with _expected_errors():
        task = open_judge_task(Plan(JudgedSettings()), (None,), "auto", {"items": path})
        try:
            for place in range(len(task)):
                task.question(place, None)
            list(task.labels([], "m"))
        finally:
            task.close()


def check_protocol(data: bytes) -> None:
    """A protocol is loaded, or refused."""
    with _expected_errors():
        load_protocol(_file("protocol.yaml", data))


def check_golden(data: bytes) -> None:
    """Golden queries are loaded and judged with, or refused."""
    with _expected_errors():
        evaluate_outputs(_file("golden.json", data), _outputs(), None)


def check_traces(data: bytes) -> None:
    """Traces become runs that can be judged, or are refused."""
    path = _file("traces.jsonl", data)
    with _expected_errors(), tempfile.TemporaryDirectory(dir=_folder().name) as out:
        import_runs([str(path)], out)
        assert evaluate_outputs(GOLDEN, out, None).report


def check_run(name: str, data: bytes) -> None:
    """A run with any content of one of its files is judged: what is wrong with it are findings."""
    path = _outputs() / "run" / name
    before = path.read_bytes()
    path.write_bytes(data)
    try:
        assert evaluate_outputs(GOLDEN, _outputs(), None).report
    finally:
        path.write_bytes(before)


@contextmanager
def _expected_errors() -> Iterator[None]:
    try:
        yield
    except InternalError:
        raise
    except GoldgateError:
        pass


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="goldgate-fuzz-")


def _file(name: str, data: bytes) -> Path:
    path = Path(_folder().name, name)
    path.write_bytes(data)
    return path


@cache
def _outputs() -> Path:
    outputs = Path(_folder().name, "outputs")
    shutil.copytree(RUN, outputs / "run")
    return outputs


def _responses() -> list[bytes]:
    return [case.response.encode("utf-8", "replace") for case in load_corpus()]


def _files(*paths: Path) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in paths]


def _of_run(name: str) -> Target:
    return Target(partial(check_run, name), _files(RUN / name))


def _record_files(folder: Path = EXTRACTION) -> list[bytes]:
    """A few lines of each example, as lines and as an array."""
    files = [path.read_bytes().splitlines()[:4] for path in sorted(folder.glob("*.jsonl"))]
    return [b"\n".join(lines) for lines in files] + [b"[" + b",".join(lines) + b"]" for lines in files]


def _published_files() -> list[bytes]:
    """A record of every dialect and layout."""
    table = b'id,response\n1,"a ""b"""\n'
    layouts: list[Any] = [
        {"custom_id": "1", "response": {"body": {"choices": [{"message": {"content": "[]"}}]}}},
        {"prompt": "p", "predict": "[]", "label": "[]"},
        {"doc_id": 0, "doc": {"id": "1"}, "resps": [["[]"]]},
        {"version": 2, "status": "success", "eval": {}, "samples": [{"id": 1, "output": {"completion": "[]"}}]},
    ]
    records = [*(record for record, _ in SAMPLES.values()), *layouts]
    return [*(orjson.dumps(record) for record in records), orjson.dumps([SAMPLES["docee"][0]]), table, _archive()]


def _archive() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", '{"id": 1, "epoch": 1, "output": {"completion": "[]"}}')
    return data.getvalue()


TARGETS: dict[str, Target] = {
    "response": Target(check_response, _responses),
    "score": Target(check_score, _responses),
    "records": Target(check_records, _record_files),
    "items": Target(check_items, partial(_record_files, ROOT / "examples" / "judged")),
    "published": Target(check_published, _published_files),
    "protocol": Target(check_protocol, _files(*sorted((ROOT / "examples").glob("[er]*/*.yaml")))),
    "golden": Target(check_golden, _files(GOLDEN)),
    "research-output": _of_run("research_output.json"),
    "research-events": _of_run("events.jsonl"),
    "view-request": Target(check_view_request, lambda: [*VIEW_REQUESTS]),
    "labelling": Target(check_labelling, lambda: [*LABELLING]),
    "research-chunks": _of_run("chunks.jsonl"),
    "traces": Target(check_traces, _files(*sorted((ROOT / "examples" / "traces").glob("*.jsonl")))),
}
