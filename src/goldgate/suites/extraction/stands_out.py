"""What stands out in an extraction report: signs that a number is not what it seems. It changes none."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Any

from goldgate.core.metric import shorten
from goldgate.core.remarks import remark
from goldgate.core.suite import Remark, Report

MOST = Fraction(1, 2)  # of the answers
MUCH_LONGER = Fraction(3, 2)  # times gold's length
MUCH_SHORTER = Fraction(1, 3)  # of gold's length is missing
COPIED = Fraction(1, 10)  # of the checked thoughts
VARIANTS = Fraction(3, 2)  # writings for each unit
NULLS = Fraction(1, 100)  # of the answers
_SHOWN_TYPES = 3


def stands_out(report: Report, event_types: Collection[str] | None = None) -> Iterator[Remark]:
    """What there is to say, the gravest first. `event_types` are those of the schema; None: there is none."""
    if event_types is not None:
        yield from _foreign_gold(report, event_types)
    for found in (
        *(_same_files, _unread, _bare_gold, _misfits, _other_form, _null_words),
        *(_excess, _shortfall, _copied, _variants),
    ):
        yield from found(report)


def _same_files(report: Report) -> Iterator[Remark]:
    gold, predictions = (
        {file["sha256"] for file in report["inputs"][kind] if file["samples"]} for kind in ("gold", "predictions")
    )
    if same := len(gold & predictions):
        yield remark(
            "gold_as_predictions",
            "the predictions are the gold, byte for byte: the scores say nothing of a model",
            files=same,
        )


def _unread(report: Report) -> Iterator[Remark]:
    main = report["metrics"]["main"]
    total, missing, unread = (main[name]["value"] for name in ("total_samples", "missing_predictions", "parse_errors"))
    if missing:
        share = f"{missing} of {total} answers are missing ({_percent(missing, total)})"
        message = f"{share}: everything in their gold counts as missed"
        yield remark("missing_answers", message, missing=missing, samples=total)
    if unreadable := unread - missing:
        share = f"{unreadable} of {total} answers could not be read ({_percent(unreadable, total)})"
        yield remark("unreadable_answers", f"{share}: goldgate read shows why", unreadable=unreadable, samples=total)


def _foreign_gold(report: Report, event_types: Collection[str]) -> Iterator[Remark]:
    """Gold that the schema does not know: then it is the schema that is wrong, not the answers."""
    of_gold = [entry["event_type"] for entry in report["breakdown"]["event_types"] if entry["gold"]]
    foreign = [name for name in of_gold if name not in event_types]
    if foreign:
        shown = ", ".join(foreign[:_SHOWN_TYPES]) + (", …" if len(foreign) > _SHOWN_TYPES else "")
        message = (
            f"{len(foreign)} of the gold's {len(of_gold)} event types are not in the schema ({shown}): "
            "goldgate check-gold shows where"
        )
        yield remark("gold_not_in_schema", message, missing=len(foreign), event_types=len(of_gold))


def _bare_gold(report: Report) -> Iterator[Remark]:
    main = report["metrics"]["main"]
    events, arguments = main["type_recall"]["denominator"], main["strict_recall"]["denominator"]
    if events and not arguments:
        message = "no gold event has an argument: only the type scores say something"
        yield remark("gold_without_arguments", message, event_types=events)


def _misfits(report: Report) -> Iterator[Remark]:
    metric = report["metrics"]["main"]["schema_compliance_rate"]
    fitting, total = metric["numerator"], metric["denominator"]
    if not total or Fraction(total - fitting, total) <= MOST:
        return
    violations = {name: found["samples"] for name, found in report["reading"]["violations"].items()}
    most = max(violations, key=lambda name: violations[name])
    message = (
        f"{total - fitting} of {total} samples do not fit the schema, "
        f"{violations[most]} of them because of {most}: is it what the model was asked for?"
    )
    yield remark("schema_misfits", message, misfits=total - fitting, samples=total)


def _other_form(report: Report) -> Iterator[Remark]:
    """Forms that a protocol can declare. Words for null are another matter."""
    for hint in report["hints"]:
        if "null_words" not in hint["setting"]:
            message = f"{hint['answers']} of {hint['of']} answers have {hint['have']}; to read them: {hint['setting']}"
            yield remark("other_form", message, answers=hint["answers"], of=hint["of"])


def _null_words(report: Report) -> Iterator[Remark]:
    answers, total = report["reading"]["null_words"], report["metrics"]["main"]["total_samples"]["value"]
    if answers and Fraction(answers, total) >= NULLS:
        message = f"{answers} of {total} answers have a word such as null as an argument: each counts as a wrong value"
        yield remark("null_words", message, answers=answers, samples=total)


def _excess(report: Report) -> Iterator[Remark]:
    length, gold = _counts(report, "relaxed_excess")
    if gold and Fraction(length, gold) >= MUCH_LONGER:
        message = (
            f"matched arguments are {shorten(length, gold, 2)} times as long as gold's: "
            "relaxed_f1 forgives padding, strict_f1 does not"
        )
        yield remark("relaxed_excess", message, matched_length=length, gold_length=gold)


def _shortfall(report: Report) -> Iterator[Remark]:
    missing, gold = _counts(report, "relaxed_shortfall")
    if gold and Fraction(missing, gold) >= MUCH_SHORTER:
        message = (
            f"matched arguments lack {missing} of gold's {gold} characters: "
            "relaxed_f1 forgives cutting, strict_f1 does not"
        )
        yield remark("relaxed_shortfall", message, missing_length=missing, gold_length=gold)


def _copied(report: Report) -> Iterator[Remark]:
    copied, checked = _counts(report, "cot_copied_rate")
    if checked and Fraction(copied, checked) >= COPIED:
        message = (
            f"{copied} of {checked} thoughts are the answer over again: "
            "cot_faithfulness counts them, and they show no reasoning"
        )
        yield remark("copied_thought", message, copied=copied, checked=checked)


def _variants(report: Report) -> Iterator[Remark]:
    found = report["reading"]["values"]
    values, units = found["distinct"], found["units"]
    if units and Fraction(values, units) >= VARIANTS:
        message = (
            f"{values} values were checked for {units} units: one argument written in many ways "
            "makes hallucination_entity_rate smaller"
        )
        yield remark("value_variants", message, values=values, units=units)


def _counts(report: Report, name: str) -> tuple[int, int]:
    metric: dict[str, Any] = report["metrics"]["diagnostics"][name]
    return metric["numerator"], metric["denominator"]


def _percent(part: int, whole: int) -> str:
    return f"{shorten(100 * part, whole, 1)} %"
