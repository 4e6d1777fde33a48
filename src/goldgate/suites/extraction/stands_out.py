"""What stands out in an extraction report: signs that a number is not what it seems. It changes none."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Any

from goldgate.core.metric import rounded
from goldgate.core.remarks import Remark, missing_answers, percent, remark, same_files
from goldgate.core.suite import Report
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.form import Form

MOST = Fraction(1, 2)  # of the answers
NULLS = Fraction(1, 100)  # of the answers
COPIES = Fraction(1, 10)  # of the samples
_SHOWN_TYPES = 3


def stands_out(report: Report, form: Form, schema: EventSchema | None) -> Iterator[Remark]:
    """What there is to say, the gravest first."""
    yield from same_files(report)
    if form.flat and form.event_type is None:
        message = "flat answers have their event type from the gold: the type scores say nothing of the model"
        yield remark("type_from_gold", message)
    if schema is not None:
        yield from _foreign_gold(report, schema.event_types)
    yield from _partial_averages(report, schema)
    for found in (_unread, _bare_gold, _misfits, _other_form, _null_words, _copies, _beyond, _unlike_papers):
        yield from found(report)


def _unread(report: Report) -> Iterator[Remark]:
    main = report["metrics"]["main"]
    total, missing, unread = (main[name]["value"] for name in ("total_samples", "missing_predictions", "parse_errors"))
    yield from missing_answers(missing, total)
    if unreadable := unread - missing:
        share = f"{unreadable} of {total} answers could not be read ({percent(unreadable, total)})"
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


def _partial_averages(report: Report, schema: EventSchema | None) -> Iterator[Remark]:
    """Macro averages with a gate that leave out event types or roles: without the hard ones they are higher."""
    roles = {} if schema is None else schema.roles
    for gate in report["gates"]:
        averaged = gate["measured"].get("averaged")
        if averaged is None:
            continue
        by_role = gate["metric"].endswith("_macro_roles")
        in_schema = sum(map(len, roles.values())) if by_role else len(roles)
        parts = max(in_schema, averaged + gate["measured"]["undefined"])
        if averaged < parts:
            message = (
                f"{gate['metric']} averages {averaged} of {parts} {'roles' if by_role else 'event types'}: "
                "the others have nothing to divide by, no gold or no prediction"
            )
            yield remark("partial_average", message, averaged=averaged, parts=parts)


def _bare_gold(report: Report) -> Iterator[Remark]:
    main = report["metrics"]["main"]
    events, arguments = main["type_recall"]["denominator"], main["strict_recall"]["denominator"]
    if events and not arguments:
        message = "no gold event has an argument: only the type scores say something"
        yield remark("gold_without_arguments", message, event_types=events)
    elif not events and main["total_samples"]["value"]:
        message = "no gold record has an event: is this a split that was published without its labels?"
        yield remark("gold_without_events", message, samples=main["total_samples"]["value"])


def _misfits(report: Report) -> Iterator[Remark]:
    metric = report["metrics"]["main"]["schema_compliance_rate"]
    fitting, total = metric["numerator"], metric["denominator"]
    if not total or Fraction(total - fitting, total) <= MOST:
        return
    violations = {name: found["samples"] for name, found in report["reading"]["violations"].items()}
    most = max(violations, key=lambda name: violations[name])
    message = (
        f"{total - fitting} of {total} samples fail schema compliance, "
        f"{violations[most]} of them because of {most}: is it what the model was asked for?"
    )
    yield remark("schema_misfits", message, misfits=total - fitting, samples=total)


def _other_form(report: Report) -> Iterator[Remark]:
    """Forms that a protocol can declare. Words for null are another matter."""
    for hint in report["hints"]:
        if "null_words" not in hint["setting"]:
            message = f"{hint['answers']} of {hint['of']} answers have {hint['have']}; "
            message += f"to read them, write in the protocol: {hint['setting']}"
            yield remark("other_form", message, answers=hint["answers"], of=hint["of"])


def _null_words(report: Report) -> Iterator[Remark]:
    answers, total = report["reading"]["null_words"], report["metrics"]["main"]["total_samples"]["value"]
    if answers and Fraction(answers, total) >= NULLS:
        message = (
            f"{answers} of {total} answers have a word such as null as a value: read as it stands, it is a wrong one"
        )
        yield remark("null_words", message, answers=answers, samples=total)


def _copies(report: Report) -> Iterator[Remark]:
    """Texts that stand in several samples, by which a gate with a confidence can be passed."""
    distinct, units = report["reading"]["texts"]["distinct"], report["reading"]["texts"]["units"]
    if units and Fraction(units - distinct, units) >= COPIES:
        message = (
            f"{distinct} texts appear {units} times: copies make intervals too narrow; "
            "give copies the same group in the gold"
        )
        yield remark("repeated_texts", message, texts=distinct, units=units)


def _unlike_papers(report: Report) -> Iterator[Remark]:
    """Where a profile's numbers are not what the published scorer would give, or hang on the order of events."""
    found = report["metrics"].get("papers", {})
    by_text, by_offsets = (found.get(f"textee_by_{way}", {}).get("value") for way in ("text", "offsets"))
    if by_text:
        samples = by_text + by_offsets
        message = (
            f"{by_text} of {samples} samples lack offsets and were compared by their words, which TextEE does not do"
        )
        yield remark("compared_by_text", message, samples=by_text, of=samples)
    for name in ("doc2edag", "duee_fin"):
        share = found.get(f"{name}_below_best")
        if share and share["numerator"]:
            below, of = share["numerator"], share["denominator"]
            message = f"in {below} of {of} assignments of records {name} finds less than {name}_best: order may decide"
            yield remark("below_best", message, below=below, of=of)


def _beyond(report: Report) -> Iterator[Remark]:
    """Pairs of counts whose ratio is beyond what a model that answers as asked would have."""
    values = report["reading"]["values"]
    rates = ("relaxed_excess", "relaxed_shortfall", "stub_rate", "cot_copied_rate")
    counts = {name: _counts(report, name) for name in rates}
    counts["values"] = values["distinct"], values["units"]
    for name, most, code, words, names in _RATIOS:
        above, below = counts[name]
        if below and Fraction(above, below) >= most:
            message = words.format(above, below, times=rounded(Fraction(above, below), 2))
            yield remark(code, message, **dict(zip(names, (above, below), strict=True)))


# Counts, from which ratio on, the remark's code, its words, the names of its counts.
_RATIOS = (
    (
        *("relaxed_excess", Fraction(3, 2), "relaxed_excess"),
        "matched arguments are {times} times as long as gold's: relaxed_f1 forgives padding, strict_f1 does not",
        ("matched_length", "gold_length"),
    ),
    (
        *("relaxed_shortfall", Fraction(1, 3), "relaxed_shortfall"),
        "matched arguments lack {} of gold's {} characters: relaxed_f1 forgives cutting, strict_f1 does not",
        ("missing_length", "gold_length"),
    ),
    (
        *("stub_rate", Fraction(1, 50), "stub_values"),
        "{} of {} predicted arguments are stubs, a letter or a third of gold's or less: relaxed_f1 and "
        "hallucination_rate forgive them, strict_f1 does not",
        ("stubs", "predicted"),
    ),
    (
        *("cot_copied_rate", Fraction(1, 10), "copied_thought"),
        "{} of {} thoughts are the answer over again: they show no reasoning, and cot_faithfulness leaves them out",
        ("copied", "checked"),
    ),
    (
        *("values", Fraction(3, 2), "value_variants"),
        "{} values were checked for {} units: one argument at many offsets makes hallucination_entity_rate smaller",
        ("values", "units"),
    ),
)


def _counts(report: Report, name: str) -> tuple[int, int]:
    metric: dict[str, Any] = report["metrics"]["diagnostics"][name]
    return metric["numerator"], metric["denominator"]
