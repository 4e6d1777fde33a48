"""Writes the example runs, and the degenerate agents of the tests, from one small invented corpus.

    python examples/research/make.py

Everything is made up: places, people, companies and figures. Run it again after a change of the artifact layout; the
files it writes are part of the repository, and a test compares them with what this script would write.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SOURCES = {
    "lighthouse-log": [
        "The lighthouse at Port Ellery was lit for the first time on 4 March 1822. Its first keeper was Anna Brisk, "
        "who stayed for nineteen years.",
        "In the winter of 1837 the lamp went out for three nights, because the supply boat could not land. No ship was "
        "lost in that time.",
        "The tower is 31 metres high. It was built of grey sandstone from the quarry at Low Marrow.",
    ],
    "railway-report": [
        "The Marrow Valley Railway carried 212,000 passengers in 1904. In 1905 the number fell to 187,500, which the "
        "directors put down to the floods of that spring.",
        "The bridge at Stell was closed from 9 April to 2 June 1905. Trains ended at Upper Stell, and passengers were "
        "taken on by carriage.",
        "The company did not pay a dividend for 1905. It had paid four per cent for each of the six years before.",
    ],
    "water-notice": [
        "Tidewell Water serves 14,300 households from two reservoirs. The larger one, Hollin Mere, holds nine tenths "
        "of the supply.",
        "Samples taken on 12 May showed no trace of lead. Hardness was “moderate”, at 118 milligrams per litre.",
        "The pipe under Castle Street dates from 1931 and will be replaced in two stages, beginning with the northern "
        "half.",
    ],
}

# Objective, the chunks whose evidence is required, and the claims: statement, chunk, quote.
ANSWERS: list[tuple[str, list[str], list[tuple[str, str, str]]]] = [
    (
        "When was the lighthouse at Port Ellery first lit, and who kept it?",
        ["lighthouse-log:0"],
        [
            (
                "The lighthouse was first lit on 4 March 1822.",
                "lighthouse-log:0",
                "lit for the first time on 4 March 1822",
            ),
            ("Its first keeper was Anna Brisk.", "lighthouse-log:0", "first keeper was Anna Brisk"),
        ],
    ),
    (
        "Why did the lamp at Port Ellery go out in 1837?",
        ["lighthouse-log:1"],
        [("The supply boat could not land.", "lighthouse-log:1", "because the supply boat could not land")],
    ),
    (
        "How high is the tower at Port Ellery and what is it built of?",
        ["lighthouse-log:2"],
        [
            ("The tower is 31 metres high.", "lighthouse-log:2", "The tower is 31 metres high"),
            ("It is built of grey sandstone.", "lighthouse-log:2", "built of grey sandstone"),
        ],
    ),
    (
        "How did passenger numbers of the Marrow Valley Railway change from 1904 to 1905?",
        ["railway-report:0"],
        [
            ("It carried 212,000 passengers in 1904.", "railway-report:0", "carried 212,000 passengers in 1904"),
            ("In 1905 the number fell to 187,500.", "railway-report:0", "In 1905 the number fell to 187,500"),
        ],
    ),
    (
        "What did the floods of 1905 do to the railway's service and its dividend?",
        ["railway-report:1", "railway-report:2"],
        [
            ("The bridge at Stell was closed until 2 June.", "railway-report:1", "closed from 9 April to 2 June 1905"),
            ("There was no dividend for 1905.", "railway-report:2", "did not pay a dividend for 1905"),
        ],
    ),
    (
        "How many households does Tidewell Water serve, and from where?",
        ["water-notice:0"],
        [
            ("It serves 14,300 households.", "water-notice:0", "serves 14,300 households"),
            ("Hollin Mere holds most of the supply.", "water-notice:0", "Hollin Mere, holds nine tenths of the supply"),
        ],
    ),
    (
        "Was lead found in the water of Tidewell, and how hard is it?",
        ["water-notice:1"],
        [
            ("No lead was found on 12 May.", "water-notice:1", "showed no trace of lead"),
            # Straight quotation marks for the curly ones of the source: folded, this is the same text.
            ("The water is moderately hard.", "water-notice:1", 'Hardness was "moderate"'),
        ],
    ),
    (
        "When will the pipe under Castle Street be replaced?",
        ["water-notice:2"],
        [("It will be replaced in two stages.", "water-notice:2", "will be replaced in two stages")],
    ),
]
UNANSWERABLE = [
    "What did the lighthouse at Port Ellery cost to build?",
    "Who was the chief engineer of the Marrow Valley Railway?",
    "What does Tidewell Water charge for a cubic metre?",
    "How many people lived in Low Marrow in 1850?",
]
FEW = (0, 4)  # the answers, and the first two of the unanswerable, that the degenerate agents are asked


def chunk_id(name: str) -> str:
    return "chunk:" + name


def evidence_id(name: str) -> str:
    return "ev:" + name


def artifact(source: str) -> str:
    return "\n\n".join(SOURCES[source]) + "\n"


def text_of(name: str) -> str:
    source, _, number = name.partition(":")
    return SOURCES[source][int(number)]


def chunk_record(name: str) -> dict[str, Any]:
    source, text = name.partition(":")[0], text_of(name)
    start = artifact(source).index(text)
    return {
        "chunk_id": chunk_id(name),
        "source_id": source,
        "artifact_id": sha256(artifact(source)),
        "text": text,
        "start_offset": start,
        "end_offset": start + len(text),
        "text_hash": sha256(text),
    }


def evidence_record(name: str, quote: str, *, identity: str | None = None) -> dict[str, Any]:
    source, text = name.partition(":")[0], text_of(name)
    plain = quote.replace('"', "“", 1).replace('"', "”", 1)
    start = text.index(plain) if plain in text else 0
    return {
        "evidence_id": identity or evidence_id(name),
        "chunk_id": chunk_id(name),
        "quote": quote,
        "span": {"start": start, "end": start + len(quote)},
        "provenance": {"source_id": source, "content_hash": "sha256:" + sha256(artifact(source))},
    }


class Run:
    """The files of one run as values, to be changed before they are written."""

    def __init__(self, run_id: str, objective: str) -> None:
        self.run_id = run_id
        self.objective = objective
        self.stop_reason = "OBJECTIVE_ACHIEVED"
        self.claims: list[dict[str, Any]] = []
        self.evidence: list[dict[str, Any]] = []
        self.chunks: list[str] = []
        self.steps = [1, 2, 3]
        self.manifests = [1, 2, 3]
        self.artifacts = False
        self.torn = False

    def events(self) -> list[dict[str, Any]]:
        events = [self._event(None, "run_started", objective=self.objective)]
        events += [self._event(step, "retrieval", query=self.objective) for step in self.steps]
        last = self.steps[-1] if self.steps else None
        events += [
            self._event(last, "claim_" + claim["status"], claim_id=claim["claim_id"], status=claim["status"])
            for claim in self.claims
        ]
        return [*events, self._event(None, "run_stopped", stop_reason=self.stop_reason)]

    def write(self, folder: Path) -> None:
        run = folder / f"run_{self.run_id}"
        run.mkdir(parents=True)
        output = {
            "run_id": self.run_id,
            "objective": self.objective,
            "stop_reason": self.stop_reason,
            "corpus_id": "example-corpus",
            "index_id": "example-index-1",
            "claims": self.claims,
            "evidence": self.evidence,
        }
        text = json.dumps(output, ensure_ascii=False, indent=1) + "\n"
        (run / "research_output.json").write_text(text, encoding="utf-8")
        log = lines(self.events())
        (run / "events.jsonl").write_text(log[:-30] if self.torn else log, encoding="utf-8")
        manifests = [self._manifest(step) for step in self.manifests]
        (run / "manifests.jsonl").write_text(lines(manifests), encoding="utf-8")
        (run / "chunks.jsonl").write_text(lines([chunk_record(name) for name in self.chunks]), encoding="utf-8")
        for source in sorted({name.partition(":")[0] for name in self.chunks}) if self.artifacts else ():
            (run / "artifacts").mkdir(exist_ok=True)
            (run / "artifacts" / sha256(artifact(source))).write_text(artifact(source), encoding="utf-8")

    def _event(self, step: int | None, kind: str, **payload: Any) -> dict[str, Any]:
        return {"run_id": self.run_id, "step_id": step, "event_type": kind, "payload": payload}

    def _manifest(self, step: int) -> dict[str, Any]:
        ids = [chunk_id(name) for name in self.chunks]
        return {
            "run_id": self.run_id,
            "step_id": step,
            "retrieval_query": self.objective,
            "candidate_chunk_ids": ids,
            "selected_chunk_ids": ids[:1],
        }


def answer(run_id: str, number: int) -> Run:
    """A run that answers as it should."""
    objective, required, claims = ANSWERS[number]
    run = Run(run_id, objective)
    run.chunks = list(required)
    for index, (statement, name, quote) in enumerate(claims):
        first = not any(record["evidence_id"] == evidence_id(name) for record in run.evidence)
        record = evidence_record(name, quote, identity=None if first else f"{evidence_id(name)}#{index}")
        run.evidence.append(record)
        run.claims.append(
            {
                "claim_id": f"claim-{index + 1}",
                "statement": statement,
                "status": "verified",
                "evidence_ids": [record["evidence_id"]],
            }
        )
    return run


def abstain(run_id: str, objective: str) -> Run:
    run = Run(run_id, objective)
    run.stop_reason = "NO_EVIDENCE"
    run.chunks = ["lighthouse-log:2"]
    return run


def golden(answers: list[int], unanswerable: list[str]) -> list[dict[str, Any]]:
    queries = [
        {
            "objective": ANSWERS[number][0],
            "required_evidence_ids": [evidence_id(name) for name in ANSWERS[number][1]],
            "evidence_sufficient": True,
        }
        for number in answers
    ]
    return queries + [
        {"objective": objective, "required_evidence_ids": [], "evidence_sufficient": False}
        for objective in unanswerable
    ]


def passing() -> list[Run]:
    runs = [answer(f"a{number}", number) for number in range(len(ANSWERS))]
    runs[0].artifacts = True  # its records can be followed to the source
    runs[3].chunks = []  # nothing is stored: its records can only be checked for their form
    return runs + [abstain(f"n{number}", objective) for number, objective in enumerate(UNANSWERABLE)]


def failing() -> list[Run]:
    """Each gate fails for a reason of its own."""
    runs = passing()
    # Evidence coverage: a quote that is nowhere, one from another chunk, one without its "not".
    runs[0].evidence[0]["quote"] = "lit for the first time on 4 May 1822"
    runs[1].evidence[0]["chunk_id"] = chunk_id("lighthouse-log:0")
    runs[1].chunks.append("lighthouse-log:0")
    runs[4].evidence[1]["quote"] = "did pay a dividend for 1905"
    # Golden recall: those three, and two queries without a run.
    kept = [run for run in runs if run.run_id not in ("a5", "a7")]
    # Abstention: one run out of budget, one that claims what nobody wrote.
    by_id = {run.run_id: run for run in kept}
    by_id["n1"].stop_reason = "BUDGET_EXCEEDED"
    by_id["n2"].claims.append(
        {"claim_id": "claim-1", "statement": "It charges 1.80.", "status": "verified", "evidence_ids": ["ev:nowhere"]}
    )
    # Manifest integrity: a step without a manifest, and a log that breaks off.
    by_id["a2"].manifests = [1, 3]
    by_id["n3"].torn = True
    return kept


def agents() -> dict[str, list[Run]]:
    """Agents that must not pass, each asked the same few queries."""
    everything = [f"{source}:{number}" for source, parts in SOURCES.items() for number in range(len(parts))]

    def honest() -> list[Run]:
        answers = [answer(f"a{number}", number) for number in FEW]
        return answers + [abstain(f"n{number}", UNANSWERABLE[number]) for number in range(2)]

    def dump(run: Run) -> Run:
        run.chunks = list(everything)
        filed = {record["evidence_id"] for record in run.evidence}
        run.evidence += [evidence_record(name, text_of(name)) for name in everything if evidence_id(name) not in filed]
        return run

    def dilute(run: Run, trial: str) -> Run:
        run.run_id += trial
        if not run.claims:
            run.steps, run.manifests = ([1, 2], [1, 2]) if trial else (run.steps, run.manifests)  # another run
            return run
        cited = run.claims[0]["evidence_ids"]
        words = [word.strip(".,") for word in text_of(run.chunks[0]).split()] * 2
        for number in range(len(run.claims), 19):
            statement = f"The source has the word {words[number]} as its word {number}{trial}."
            claim = {"claim_id": f"claim-{number + 1}", "statement": statement, "status": "verified"}
            run.claims.append({**claim, "evidence_ids": cited})
        made_up = {"claim_id": "claim-20", "statement": f"It cost {len(words)} million.", "status": "verified"}
        run.claims.append({**made_up, "evidence_ids": []})
        return run

    found: dict[str, list[Run]] = {"honest": honest()}

    found["dumps_the_corpus"] = [dump(run) for run in honest()]
    for run in found["dumps_the_corpus"]:
        run.stop_reason = "OBJECTIVE_ACHIEVED"
        run.claims = [
            {
                "claim_id": "claim-1",
                "statement": "See the evidence.",
                "status": "verified",
                "evidence_ids": [record["evidence_id"] for record in run.evidence],
            }
        ]

    # It abstains where it should: the four gates let it pass, and only the companions show what it does.
    found["dumps_the_corpus_and_abstains"] = [dump(run) if run.claims else run for run in honest()]

    # And it cites what it files: in one claim, or in a claim for each record.
    found["dumps_the_corpus_and_cites_it"] = [dump(run) if run.claims else run for run in honest()]
    for run in found["dumps_the_corpus_and_cites_it"]:
        for claim in run.claims[:1]:
            claim["evidence_ids"] = [record["evidence_id"] for record in run.evidence]
    found["dumps_the_corpus_claim_by_claim"] = [dump(run) if run.claims else run for run in honest()]
    for run in found["dumps_the_corpus_claim_by_claim"]:
        run.claims = [
            {
                "claim_id": f"claim-{number}",
                "statement": record["quote"],
                "status": "verified",
                "evidence_ids": [record["evidence_id"]],
            }
            for number, record in enumerate(run.evidence, 1)
        ]

    # It says that there is nothing, everywhere, and files everything all the same.
    found["abstains_and_files_what_is_asked"] = honest()
    for run in found["abstains_and_files_what_is_asked"]:
        run.stop_reason = "NO_EVIDENCE"
        for claim in run.claims[1:] if run.run_id == "a0" else run.claims:
            claim["status"] = "candidate"
            claim["evidence_ids"] = [record["evidence_id"] for record in run.evidence]

    # It passes the four gates and every companion, and says nothing.
    found["quotes_function_words"] = honest()
    for run in found["quotes_function_words"]:
        for record in run.evidence:
            text = text_of(record["chunk_id"].removeprefix("chunk:"))
            word = next(word for word in text.split() if word.lower() in ("the", "a", "of", "and", "in", "was"))
            record["quote"] = word
            record["span"] = {"start": text.index(word), "end": text.index(word) + len(word)}
    found["quotes_whole_chunks"] = honest()
    for run in found["quotes_whole_chunks"]:
        for record in run.evidence:
            record["quote"] = text_of(record["chunk_id"].removeprefix("chunk:"))
            record["span"] = {"start": 0, "end": len(record["quote"])}
    found["claims_nothing"] = honest()
    for run in found["claims_nothing"]:
        for claim, statement in zip(run.claims, (run.objective, "It is what it is."), strict=False):
            claim["statement"] = statement

    # In every run one claim of twenty is made up, which is exactly 0.95.
    found["dilutes_evenly"] = [dilute(run, trial) for trial in ("", "-again") for run in honest()]

    found["always_abstains"] = [abstain(run.run_id, run.objective) for run in honest()]

    found["verifies_nothing"] = honest()
    for run in found["verifies_nothing"]:
        for claim in run.claims:
            claim["status"] = "candidate"

    found["quotes_what_is_not_there"] = honest()
    for run in found["quotes_what_is_not_there"]:
        for record in run.evidence:
            record["quote"] = "Every expert agrees that this is so"
            record["span"] = {"start": 0, "end": len(record["quote"])}

    found["manifests_without_steps"] = honest()
    for run in found["manifests_without_steps"]:
        run.steps = []

    found["another_runs_evidence"] = honest()
    first, second = found["another_runs_evidence"][:2]
    first.evidence, second.evidence = second.evidence, first.evidence
    first.chunks, second.chunks = second.chunks, first.chunks

    found["crashes_half_way"] = honest()
    for run in found["crashes_half_way"][1:3]:
        run.steps, run.manifests, run.torn = [1, 2], [1], True
    return found


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def lines(values: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def write_all(root: Path) -> None:
    """Write all sets under `root`, in place of what was there."""
    sets = {"examples/research/passing": passing(), "examples/research/failing": failing()}
    sets |= {f"tests/research/agents/{name}": runs for name, runs in agents().items()}
    for folder, runs in sets.items():
        shutil.rmtree(root / folder, ignore_errors=True)
        for run in runs:
            run.write(root / folder)
    for run in ("run_a4", "run_n0"):  # a crash leaves no output behind
        (root / "tests/research/agents/crashes_half_way" / run / "research_output.json").unlink()
    goldens = {
        "eval/golden_queries.json": golden([*range(len(ANSWERS))], UNANSWERABLE),
        "tests/research/agents/golden_queries.json": golden([*FEW], UNANSWERABLE[:2]),
    }
    for file, queries in goldens.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(json.dumps(queries, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_all(ROOT)
