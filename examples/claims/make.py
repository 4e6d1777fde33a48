"""Writes the example of supported claims: runs of a research agent, and labels of their claims. All of it is made up.

python examples/claims/make.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
TOWNS = (
    "Aldmere", "Brackwell", "Corrin", "Dunsea", "Elverby", "Farrow", "Gannet", "Hollinside",
    "Irthing", "Jarvale", "Kelder", "Lowmarrow", "Medwin", "Norstead", "Ottery",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
# By number, the claims that say more than their quotes: people see it, and the judge sees only some of them.
OVERSTATED = frozenset(range(3, 60, 9))
MISSED = frozenset(range(12, 60, 18))
PEOPLE, JUDGE, ABSTENTION = "people.jsonl", "judge.jsonl", "run_none"


def facts(number: int, town: str) -> list[tuple[str, str]]:
    """Claims about a town, each with what it quotes."""
    year, length, day = 1700 + 7 * number, 20 + 3 * number, DAYS[number % len(DAYS)]
    return [
        (f"{town} has {900 + 61 * number} inhabitants.", f"{900 + 61 * number} people live in {town}"),
        (f"The mill was built in {year}.", f"The mill dates from {year}"),
        (f"The bridge is {length} metres long.", f"its bridge measures {length} metres"),
        (f"The market is on {day}.", f"A market is held every {day}"),
    ]


def source_text(number: int, town: str) -> str:
    return " ".join(f"{quote}." for _, quote in facts(number, town))


def statement_of(number: int, statement: str) -> str:
    """What the claim with this number says."""
    return f"{statement[:-1]}, more than in any other town." if number in OVERSTATED else statement


def run_files(number: int, town: str) -> dict[str, str]:
    """The files of the run about a town."""
    evidence, claims = [], []
    for place, (fact, quote) in enumerate(facts(number, town)):
        statement = statement_of(4 * number + place, fact)
        name = f"{town.lower()}-{place}"
        source = {"source_id": f"{town.lower()}-notes"}
        evidence.append({"evidence_id": name, "chunk_id": town.lower(), "quote": quote, "provenance": source})
        claims.append({"claim_id": f"c{place}", "statement": statement, "status": "verified", "evidence_ids": [name]})
    chunk = {"chunk_id": town.lower(), "source_id": f"{town.lower()}-notes", "text": source_text(number, town)}
    return {"research_output.json": output(town, "OBJECTIVE_ACHIEVED", claims, evidence), "chunks.jsonl": lines(chunk)}


def output(town: str, stop_reason: str, claims: list[Any], evidence: list[Any]) -> str:
    run = {"run_id": f"r-{town.lower()}", "objective": f"What is known about {town}?", "stop_reason": stop_reason}
    return json.dumps({**run, "claims": claims, "evidence": evidence}, indent=1) + "\n"


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def item_sha256(number: int, town: str) -> str:
    """The digest of what people and judges see of a claim: its item's JSON, keys sorted and without blanks."""
    fact, quote = facts(number // 4, town)[number % 4]
    shown = {"text": quote, "source": source_text(number // 4, town), "source_id": f"{town.lower()}-notes"}
    item = {"objective": f"What is known about {town}?", "claim": statement_of(number, fact), "quotes": [shown]}
    return hashlib.sha256(json.dumps(item, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def label(number: int, town: str, *, supported: bool, kind: str) -> dict[str, Any]:
    by = "ann" if kind == "human" else "judge-model"
    name = {"id": f"run_{town.lower()}/c{number % 4}", "label": supported, "by": by, "kind": kind}
    return {**name, "item_sha256": item_sha256(number, town)}


def files() -> dict[str, str]:
    """Everything but the draw and the labels of people, which follow from it."""
    queries: list[dict[str, Any]] = [
        {"objective": f"What is known about {town}?", "required_evidence_ids": [f"{town.lower()}-0"],
         "evidence_sufficient": True}
        for town in TOWNS
    ]  # fmt: skip
    queries.append(
        {"objective": "What is known about Nowhere?", "required_evidence_ids": [], "evidence_sufficient": False}
    )
    written = {"golden.json": json.dumps(queries, indent=1) + "\n"}
    for number, town in enumerate(TOWNS):
        for name, text in run_files(number, town).items():
            written[f"outputs/run_{town.lower()}/{name}"] = text
    written[f"outputs/{ABSTENTION}/research_output.json"] = output("Nowhere", "NO_EVIDENCE", [], [])
    judged = [
        label(number, town, supported=number not in OVERSTATED or number in MISSED, kind="judge")
        for number, town in every_claim()
    ]
    return {**written, JUDGE: lines(*judged)}


def every_claim() -> list[tuple[int, str]]:
    return [(4 * number + place, town) for number, town in enumerate(TOWNS) for place in range(4)]


def people(drawn: list[str]) -> str:
    """The labels of a person for what was drawn, in the order of the draw."""
    said = {}
    for number, town in every_claim():
        each = label(number, town, supported=number not in OVERSTATED, kind="human")
        said[each["id"]] = each
    return lines(*({**said[name], "drawn": len(drawn)} for name in drawn))


if __name__ == "__main__":
    for name, text in files().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
