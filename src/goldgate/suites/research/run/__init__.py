"""One run directory, from its bytes to the counts that all metrics are sums of, and to digests of its content.

Runs with the same content are one run under several names. `answer` digests what the run verifies and quotes for
it, `content` also everything else that is judged. Unread fields, another order, blanks or new ids do not make
another run. Runs that answer nothing resemble each other, so for them everything recorded counts except ids and times.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple, get_args

import orjson

from goldgate.core.finding import Finding, RunFindings
from goldgate.files.writing import escape_name
from goldgate.readers.draw import ItemKey, item_sha256
from goldgate.shape.validation import problems, type_test
from goldgate.suites.research.contracts import ResearchOutput, StopReason
from goldgate.suites.research.golden import Golden, Query, match_key
from goldgate.suites.research.run.claims import (
    ABSTAINED,
    Claims,
    JudgedRun,
    Ledger,
    check_claims,
    check_ledger,
    claim_key,
    evidence_records,
    make_claim_items,
    note_empty_claims,
    note_suspicions,
    read_sources,
)
from goldgate.suites.research.run.evidence import EvidenceDemands, Sources
from goldgate.suites.research.run.files import (
    OUTPUT,
    BadLine,
    ReadLimits,
    RunFiles,
    UnreadFile,
    decode_lines,
    decode_run_json,
    duplicate_key,
    ignored_reason,
    read_run,
)
from goldgate.suites.research.run.log import STATUSES, EventLog, count_steps, parse_log
from goldgate.suites.research.text import fold, sketch, visible_text

_FIELD_SEPARATOR, _GROUP_SEPARATOR = "\x1f", "\x1e"
_NON_WORD = re.compile(r"[\W_]+")
_NOT_BETWEEN_DIGITS = re.compile(r"(?<!\d) | (?!\d)")
_ID_OR_TIME = re.compile(
    r"(?:^|_)(?:id|ids|uuid|guid|key|nonce|seed|trial|attempt|host|pid|time|times|timestamp|ts|date|at|ms|secs?|"
    r"seconds|millis|duration|elapsed|latency|started|ended|finished|created|updated)$"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}",
    re.IGNORECASE,
)
_EPOCH = 1_000_000_000  # seconds; a number from here on is a time


class ContentDigests(NamedTuple):
    """Digests of 16 bytes; `answer` is empty for a run that verifies nothing."""

    answer: bytes
    content: bytes


def fingerprints(run: JudgedRun) -> tuple[bytes, bytes]:
    """Fast digests of what is verified and of the whole run: equal runs have the same, others nearly never.

    Comparing contents takes as long as judging, so it is done only where these are equal. A run that verifies nothing
    has one fingerprint.
    """
    values, manifests = _gate_values(run), run.steps.manifests
    verified = [claim.statement for claim in run.claims.entries if claim.status == "verified"]
    answer = _short_digest((values[:2], len(verified), sketch("".join(verified))))
    others = run.claims.entries if run.claims.candidate else []
    texts = [claim.statement for claim in others if claim.status != "verified"]
    quotes = [record.get("quote") for record in run.output.get("evidence") or () if type(record) is dict]
    texts += [quote for quote in quotes if type(quote) is str]
    texts += [manifest["retrieval_query"] for manifest in manifests]
    whole = _short_digest((answer, values, len(manifests), sketch("".join(texts))))
    return answer if verified else whole, whole


def content_of(run: JudgedRun, files: RunFiles) -> ContentDigests:
    """Digests that are equal for copies of a run."""
    values, required = _gate_values(run), run.query.required if run.query is not None else frozenset()
    filed = dict(_record_contents(run.output, run.sources, required))
    claims: dict[str, list[str]] = {status: [] for status in STATUSES}
    for claim in run.claims.entries:
        quotes = sorted(filed.get(name, "") for name in claim.cited)
        claims[claim.status].append(_FIELD_SEPARATOR.join((_plain_text(claim.statement), *quotes)))
    answer = [*map(str, values[:2]), _GROUP_SEPARATOR, *sorted(claims["verified"])]
    content = [*answer, _GROUP_SEPARATOR, *map(str, values)]
    for group in (
        sorted(claims["candidate"]),
        sorted(claims["retracted"]),
        sorted(filed.values()),
        map(_manifest_content, run.steps.manifests),
    ):
        content += [_GROUP_SEPARATOR, *group]
    if not (run.claims.entries or len(run.ledger)):
        content += [_GROUP_SEPARATOR, *_all_recorded(run.output, files)]
    return ContentDigests(_digest(answer) if claims["verified"] else b"", _digest(content))


def _gate_values(run: JudgedRun) -> tuple[object, ...]:
    """The task and the end of a run, with the counts that gates are about.

    Without the counts, a run that failed could vanish as a copy of one that did not.
    """
    claims, steps = run.claims, run.steps
    counts = (claims.verified, claims.covered, claims.candidate, len(run.ledger), len(run.found_ids), run.uncited)
    return match_key(run.objective or ""), run.stop_reason, *counts, steps.total, steps.with_manifest, run.torn


def _record_contents(output: dict[str, Any], sources: Sources, required: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each record's id and what it files: the quoted words, and its id only where a query asks for that."""
    for _, record in evidence_records(output):
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is str:
            asked = identity if identity in required else ""
            yield identity, _FIELD_SEPARATOR.join((_quote_content(record, sources), asked))


def _quote_content(record: dict[str, Any], sources: Sources) -> str:
    quote, span, chunk_id = record.get("quote"), record.get("span"), record.get("chunk_id")
    if type(quote) is str:
        return _plain_text(quote)
    chunk = sources.chunks.get(chunk_id) if type(chunk_id) is str else None
    if type(span) is not dict:
        return ""
    start, end = span.get("start"), span.get("end")
    text = None
    if chunk is not None and type(start) is int and type(end) is int and 0 <= start < end <= len(chunk["text"]):
        text = sources.folded_span(chunk["chunk_id"], start, end)
    return f"{start}-{end}" if text is None else _plain_text(text)


def _manifest_content(manifest: dict[str, Any]) -> str:
    counts = f"{len(manifest['candidate_chunk_ids'])}{_FIELD_SEPARATOR}{len(manifest['selected_chunk_ids'])}"
    return f"{_plain_text(manifest['retrieval_query'])}{_FIELD_SEPARATOR}{counts}"


def _plain_text(text: str) -> str:
    """The letters and digits of a text, without case, punctuation, blanks, width and invisible characters."""
    words = _NON_WORD.sub(" ", fold(visible_text(text)).casefold()).strip()
    return _NOT_BETWEEN_DIGITS.sub("", words)  # 1.5 is not 15


def _all_recorded(output: dict[str, Any], files: RunFiles) -> list[str]:
    """Everything in the output and the log but ids and times."""
    try:
        parts = [_bare_json(output)]
        parts += sorted(_bare_json(event) for _, event in decode_lines(files.events or b""))
    except (RecursionError, TypeError):
        return [files.digest.hex()]  # too deep, or no text at all: equal only where the bytes are
    return parts


def _bare_json(value: Any) -> str:
    return orjson.dumps(_without_ids_and_times(value), option=orjson.OPT_SORT_KEYS).decode()


def _without_ids_and_times(value: Any) -> Any:
    if isinstance(value, BadLine):
        return ""
    if type(value) is str:
        return _plain_text(_STAMP.sub("", value.encode("utf-8", "replace").decode()))
    if type(value) is dict:
        return {key: _without_ids_and_times(item) for key, item in value.items() if not _names_id_or_time(key)}
    if type(value) is list:
        return [_without_ids_and_times(item) for item in value]
    if type(value) in (int, float) and value >= _EPOCH:
        return 0
    return value


def _names_id_or_time(key: str) -> bool:
    return _ID_OR_TIME.search(_HUMP.sub("_", key).lower()) is not None


def _digest(parts: list[str]) -> bytes:
    return blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def _short_digest(value: object) -> bytes:
    return blake2b(repr(value).encode("utf-8", "replace"), digest_size=8).digest()


def _claim_ids(run: JudgedRun, name: str) -> ClaimIds:
    ids = [claim.get("claim_id") for claim in run.output.get("claims", []) if type(claim) is dict]
    return ClaimIds(
        {ItemKey(item["id"]): item_sha256(item) for item in make_claim_items(name, run)},
        frozenset(claim_key(name, identity) for identity in ids if type(identity) is str),
    )


NO_QUERY = -1
_MAX_PROBLEMS = 1_000  # that are looked for in the claims, the evidence and the steps of one output
_STOP_REASONS: dict[str | None, str] = {reason: reason for reason in get_args(StopReason)}  # one text for all runs

_output_fits = type_test(ResearchOutput)


class RunSettings(NamedTuple):
    """What the protocol and the evaluator set for reading runs."""

    demands: EvidenceDemands = EvidenceDemands()
    limits: ReadLimits = ReadLimits()
    anchors: frozenset[str] = frozenset()  # hashes of artifacts that the evaluator vouches for
    manifests_kept: bool = True
    with_claim_ids: bool = False  # whether the ids of claims are kept
    with_content: bool = False  # whether the content is digested


class ClaimIds(NamedTuple):
    """The claims of a run as labels name them: the items that people label, with what each shows, and all."""

    items: dict[ItemKey, str]  # item_sha256
    every: frozenset[ItemKey]


_NO_CLAIM_IDS = ClaimIds({}, frozenset())


class RunFacts(NamedTuple):
    """The counts of one run. Measures add them up; nothing else of a run is kept."""

    name: str  # of its directory
    run_id: str | None
    query: int  # its number among the golden queries
    objective: str | None  # only where it is in no query
    broken: str | None  # why, or None
    stop_reason: str | None
    verified: int
    covered: int
    empty: int  # covered claims that claim nothing, or rest on evidence of nothing
    candidate: int
    retracted: int
    unreadable_claims: int
    claims_unknown: bool  # the output does not show them, or not all of them
    found_ids: int  # required ids in the ledger as valid records
    cited: int  # and cited by verified claims
    ledger: int
    uncited: int
    structural: int
    verbatim: int
    chain: int
    anchored: int
    failures: tuple[tuple[str, int], ...]
    steps: int
    with_manifest: int
    orphans: int
    torn: bool
    files: int
    bytes_read: int
    digest: bytes  # of names and bytes
    suspect: bytes  # runs with the same may be clones; empty if the run is broken
    fingerprint: bytes  # of answer and path
    content: ContentDigests | None  # None unless it was asked for
    claim_ids: ClaimIds  # empty unless they were asked for


class JudgedFiles(NamedTuple):
    """A run with its files, its counts for the metrics and its findings."""

    files: RunFiles
    run: JudgedRun
    facts: RunFacts
    findings: list[Finding]


class RunResult(NamedTuple):
    """A run's counts, findings and ignored files. `facts` is None for a directory that is no run."""

    name: str
    facts: RunFacts | None
    findings: list[Finding]
    ignored: list[tuple[str, str]]  # path, reason


def judge_run(root: str, name: str, golden: Golden, settings: RunSettings, refused: str | None = None) -> RunResult:
    """Read a run directory and count. `refused` says why it must not be read at all."""
    folder = escape_name(name)
    if refused is not None:
        files: RunFiles | None = RunFiles(unread=[UnreadFile("", "link_leaves_outputs", refused)])
    else:
        files = read_run(root, name, settings.limits)
    if files is None:
        reason = ignored_reason(root, os.path.join(root, name), "a directory with none of a run's files")
        return RunResult(folder, None, [], [(f"{folder}/", reason)])
    judged = judge_files(folder, files, golden, settings)
    return RunResult(
        folder, judged.facts, judged.findings, [(f"{folder}/{file}", reason) for file, reason in files.ignored]
    )


def judge_files(folder: str, files: RunFiles, golden: Golden, settings: RunSettings) -> JudgedFiles:
    """Judge the files of a run."""
    findings = RunFindings(folder)
    for unread in files.unread:
        findings.add(unread.code, "error", unread.file, unread.message)
    judge = _Judge(folder, files, golden, settings, findings)
    run = judge.judged_run()
    return JudgedFiles(files, run, judge.facts(run), findings.to_list())


class _Judge:
    """Judges one run: its bytes become a JudgedRun, and that its counts."""

    def __init__(
        self, name: str, files: RunFiles, golden: Golden, settings: RunSettings, findings: RunFindings
    ) -> None:
        self.name = name
        self.files = files
        self.golden = golden
        self.settings = settings
        self.findings = findings
        self.broken: str | None = files.unread[0].code if files.unread else None
        self.claims_unknown = False

    def judged_run(self) -> JudgedRun:
        """Read output and log, and check evidence and claims."""
        files, settings, findings = self.files, self.settings, self.findings
        output = self._output()
        log = parse_log(files.events, output.get("run_id"), findings)
        if log.broken is not None:
            self.broken, self.claims_unknown = self.broken or log.broken, True
        steps = count_steps(files, log, output.get("steps"), findings, manifests_kept=settings.manifests_kept)
        if output:
            self._check_pins(output)
        objective, number = self._find_query(output.get("objective"), log.objectives)
        query = self.golden.queries[number] if number != NO_QUERY else None
        stop_reason = self._stop_reason(output.get("stop_reason"), log, query)
        sources = read_sources(files, settings.anchors, findings) if output else Sources({})
        ledger = check_ledger(output, sources, settings.demands, findings) if output else Ledger()
        claims = check_claims(output.get("claims", []), log, ledger, findings)
        self._count_unknown(claims)
        run = JudgedRun(
            log.run_id, number, query, objective, stop_reason, output, claims, ledger, sources, steps, log.torn
        )
        run.empty = note_empty_claims(run, findings)
        note_suspicions(run, findings)
        return run

    def facts(self, run: JudgedRun) -> RunFacts:
        """What measures count of the run."""
        files, claims, steps, levels = self.files, run.claims, run.steps, [*run.ledger.valid.values()]
        comparable = bool(run.output) and self.broken is None
        suspect, fingerprint = fingerprints(run) if comparable else (b"", b"")
        return RunFacts(
            name=self.name,
            run_id=run.run_id,
            query=run.number,
            objective=run.objective if run.query is None else None,
            broken=self.broken,
            stop_reason=_STOP_REASONS.get(run.stop_reason, run.stop_reason),
            verified=claims.verified,
            covered=claims.covered,
            empty=run.empty,
            candidate=claims.candidate,
            retracted=claims.retracted,
            unreadable_claims=claims.unreadable,
            claims_unknown=self.claims_unknown,
            found_ids=len(run.found_ids),
            cited=sum(identity in claims.cited_by_verified for identity in run.found_ids),
            ledger=len(run.ledger),
            uncited=run.uncited,
            structural=levels.count("structural"),
            verbatim=levels.count("verbatim"),
            chain=levels.count("chain"),
            anchored=levels.count("anchored"),
            failures=tuple(sorted(run.ledger.failures().items())),
            steps=steps.total,
            with_manifest=steps.with_manifest,
            orphans=steps.orphans,
            torn=run.torn,
            files=files.read,
            bytes_read=files.bytes_read,
            digest=files.digest,
            suspect=suspect,
            fingerprint=fingerprint,
            content=content_of(run, files) if comparable and self.settings.with_content else None,
            claim_ids=_claim_ids(run, self.name) if self.settings.with_claim_ids else _NO_CLAIM_IDS,
        )

    def _output(self) -> dict[str, Any]:
        """The decoded ResearchOutput; empty, and the run is broken, if it is missing or its head cannot be read."""
        data = self.files.output
        self.claims_unknown = True  # until they were read
        if data is None:
            if self.broken is None:
                self._break("output_missing", "there is no research_output.json")
            return {}
        try:
            value = decode_run_json(data)
            repeated_key = duplicate_key(data, value) if type(value) is dict else None
        except ValueError as reason:
            self._break("output_unreadable", str(reason))
            return {}
        self.claims_unknown = type(value) is not dict or type(value.get("claims")) is not list
        if repeated_key is not None:
            self._break("repeated_key", f"duplicate key {repeated_key!r}: it is not clear which of the two counts")
            self.claims_unknown = True
        if not _output_fits(value):
            self._note_contract_problems(value)
            return _readable_output(value)
        return value  # type: ignore[no-any-return]

    def _note_contract_problems(self, value: object) -> None:
        """What is wrong inside a claim or a record costs that one, which gets its own finding later; the rest all."""
        for number, problem in enumerate(problems(ResearchOutput, value, most=_MAX_PROBLEMS), 1):
            inside = problem.pointer.count("/") > 1 or problem.pointer in ("/corpus_id", "/index_id", "/chunker")
            self.findings.add("contract", "warning" if inside else "error", OUTPUT, problem.message, problem.pointer)
            if not inside:
                self.broken = self.broken or "output_unreadable"
            if number == _MAX_PROBLEMS:
                self.findings.count("contract", "warning", 0, at_least=True)

    def _count_unknown(self, claims: Claims) -> None:
        """Claims that cannot be read: at least one uncovered one, or a lost file would cost nothing."""
        if not self.claims_unknown:
            return
        counted = f"{claims.verified} known as verified count as uncovered"
        if not claims.verified:
            claims.verified += 1
            claims.unreadable += 1
            counted = "counted as one uncovered claim"
        self.findings.add("claims_unknown", "error", OUTPUT, f"its claims cannot be read: {counted}", "/claims")

    def _find_query(self, stated: str | None, logged: list[str]) -> tuple[str | None, int]:
        """The objective and its query, which a run without an output has from its log.

        A log that names another golden query than the output, or one where the output names none, breaks the run.
        """
        if stated is not None:
            key = match_key(stated)
            others = [objective for objective in logged if match_key(objective) != key]
            if others:
                more = f" and {len(others) - 1} more" if len(others) > 1 else ""
                message = f"the output says {stated!r}, the log {others[0]!r}{more}"
                self.findings.add("contradiction", "warning", OUTPUT, message, "/objective")
        own = self._query(stated)
        if own != NO_QUERY:
            if any(self._query(objective) not in (own, NO_QUERY) for objective in logged):
                self._break("conflicting_objective", "output and log name two different golden queries", "/objective")
            return stated, own
        for objective in logged:
            number = self._query(objective)
            if number != NO_QUERY:
                if stated is not None:
                    words = "the log names a golden query, and the output another objective"
                    self._break("conflicting_objective", words, "/objective")
                return objective, number
        return stated or next(iter(logged), None), NO_QUERY

    def _stop_reason(self, stated: str | None, log: EventLog, query: Query | None) -> str | None:
        """The stop reason that is worse for the run: it abstained only if output and log say so.

        Where there is evidence to find, abstaining is the worse reading; then events of another run say nothing.
        """
        abstaining_is_worse = query is not None and query.sufficient
        logged = [log.own.stop_reason, log.foreign.stop_reason]
        if abstaining_is_worse:
            logged = logged[:1]
        reasons = [reason for reason in (*logged, stated) if reason is not None]
        if len(set(reasons)) > 1:
            message = f"output and log say {' and '.join(map(repr, dict.fromkeys(reasons)))}: the worse counts"
            self.findings.add("contradiction", "warning", OUTPUT, message, "/stop_reason")
        worse = [reason for reason in reasons if (reason == ABSTAINED) is abstaining_is_worse]
        return next(iter(worse or reasons), None)

    def _check_pins(self, output: dict[str, Any]) -> None:
        for name, pinned in self.golden.pins.items():
            recorded = output.get(name)
            if recorded != pinned:
                words = "records none" if recorded is None else f"records {recorded!r}"
                message = f"the golden set is made for {name} {pinned!r}, the run {words}"
                self._break("pin_mismatch", message, f"/{name}")

    def _query(self, objective: str | None) -> int:
        """The number of the golden query with this objective."""
        return NO_QUERY if objective is None else self.golden.by_objective.get(match_key(objective), NO_QUERY)

    def _break(self, code: str, message: str, pointer: str = "") -> None:
        self.broken = self.broken or code
        self.findings.add(code, "error", OUTPUT, message, pointer)


def parse_output(data: bytes | None) -> dict[str, Any]:
    """As much of an output as can be read; empty if it is not a JSON object."""
    try:
        return _readable_output(decode_run_json(data or b""))
    except ValueError:
        return {}


def _readable_output(value: Any) -> dict[str, Any]:
    """As much of a malformed output as still counts: its claims stay in the denominator."""
    if type(value) is not dict:
        return {}
    output = dict(value)
    for name in ("claims", "evidence", "steps"):
        if type(output.get(name)) is not list:
            output[name] = []
    for name in ("run_id", "objective", "stop_reason"):
        if type(output.get(name)) is not str or not output[name].strip():
            output[name] = None
    return output
