"""What cheats, and what shows it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate.cli.main import goldgate
from goldgate.core.evaluation import Evaluation
from goldgate.errors import GoldgateError
from goldgate.pipeline import evaluate_suite
from goldgate.readers.draw import load_draw
from goldgate.suites import load_suite
from tests.cases import error_from

from .labelling import shown_sha256
from .test_judged_suite import codes, human, judge, lines


class Study:
    """Items, a draw of them, and labels of a person and a judge for those drawn and for all."""

    def __init__(self, folder: Path, size: int = 80, drawn: int = 40, *more: str) -> None:
        self.folder = folder
        self.items = lines(folder / "items.jsonl", [{"id": f"i{n}", "claim": f"claim {n}"} for n in range(size)])
        self.judge = lines(folder / "judge.jsonl", [judge(f"i{n}", n % 4 != 0) for n in range(size)])
        self.draw = str(folder / "drawn.jsonl")
        words = ["sample", "--from", self.items, "--n", str(drawn), "--out", self.draw, *more]
        result = CliRunner().invoke(goldgate, words)
        assert result.exit_code == 0, result.output
        self.size = drawn
        self.drawn = self.drawn_ids()
        self.shown = {f"i{n}": shown_sha256({"claim": f"claim {n}"}) for n in range(size)}

    def drawn_ids(self) -> list[str]:
        text = Path(self.draw).read_text(encoding="utf-8")
        return [json.loads(line)["id"] for line in text.splitlines()[1:]]

    def sample(self, items: str, size: int) -> None:
        words = ["sample", "--from", items, "--n", str(size), "--out", self.draw]
        assert CliRunner().invoke(goldgate, words).exit_code == 0

    def sign(self, label: dict[str, Any]) -> dict[str, Any]:
        """The label as goldgate label and goldgate judge write it."""
        with open(self.draw, encoding="utf-8") as stream:
            older = json.loads(stream.readline())["labels_sha256"]
        drawn = {"drawn": self.size, "labels_sha256": older} if label["kind"] == "human" else {}
        return {**label, "item_sha256": self.shown[label["id"]], **drawn}

    def truth(self, identity: str) -> bool:
        number = int(identity[1:])
        return number % 4 != 0 or number % 8 == 0

    def evaluate(self, labels: list[dict[str, Any]], /, **options: Any) -> Evaluation:
        path = lines(self.folder / "people.jsonl", labels)
        inputs = {"labels": [path, self.judge], "items": [self.items], "draw": [self.draw], **options}
        return evaluate_suite(load_suite("judged"), inputs, options.pop("protocol", None))

    def labels(self) -> list[dict[str, Any]]:
        return [human(identity, self.truth(identity)) for identity in self.drawn]


def refusal(study: Study, people: list[dict[str, Any]], /, **options: Any) -> GoldgateError:
    return error_from(GoldgateError, study.evaluate, people, **options)


def test_a_draw_that_is_labelled_whole_stands_out_by_nothing_but_its_one_person(tmp_path: Path) -> None:
    study = Study(tmp_path)
    lines(tmp_path / "judge.jsonl", [study.sign(judge(f"i{n}", n % 4 != 0)) for n in range(80)])
    found = study.evaluate([*map(study.sign, study.labels())])
    assert codes(found) == ["no_gates", "one_person"]
    assert found.report["labelling"]["label_draws"] is None
    assert found.report["labelling"]["sampling"] == "drawn"
    assert f"draw:{load_draw(study.draw).choice_sha256[:12]}" in found.report["signature"]


def test_a_draw_may_come_from_a_pipe(tmp_path: Path) -> None:
    study = Study(tmp_path)
    usual = study.evaluate(study.labels())
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(Path(study.draw).read_bytes(),))
    writer.start()
    piped = study.evaluate(study.labels(), draw=[str(pipe)])
    writer.join()
    assert piped.report == usual.report


def test_dropped_labels_count_as_unsure(tmp_path: Path) -> None:
    """Leaving out what the judge does not like gains nothing: the lower end has them as 0."""
    study = Study(tmp_path)
    whole = study.evaluate(study.labels())
    kept = [label for label in study.labels() if label["label"]]
    found = study.evaluate(kept)
    dropped = len(study.drawn) - len(kept)
    assert found.report["questions"]["rows"][0]["unsure"] == dropped
    assert found.interval("rate")[0] == whole.interval("rate")[0]  # type: ignore[index]
    assert "unsure" in codes(found)


def test_labels_of_what_was_not_drawn_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    extra = next(f"i{n}" for n in range(80) if f"i{n}" not in study.drawn)
    error = refusal(study, [*study.labels(), human(extra, 1)])
    assert (error.code, error.found) == ("labels.not_drawn", f"1 other item: {extra}")


def test_labels_without_a_draw_are_refused_or_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    error = refusal(study, study.labels(), draw=[])
    assert error.code == "labels.not_a_draw"
    found = study.evaluate(study.labels(), draw=[], protocol={"judged": {"sampling": "trusted"}})
    assert "trusted_sampling" in codes(found)
    assert "sampling:trusted" in found.report["signature"]


def test_a_draw_that_was_edited_is_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    path = Path(study.draw)
    header, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(header + "".join(rest[:-1]), encoding="utf-8")
    assert refusal(study, study.labels()[:-1]).code == "draw.changed"
    path.write_text(header.replace('"draw":1', '"draw":2') + "".join(rest), encoding="utf-8")
    assert refusal(study, study.labels()).code == "draw.changed"


def test_a_draw_from_other_items_is_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    other = lines(tmp_path / "other.jsonl", [{"id": f"i{n}"} for n in range(79)])
    assert refusal(study, [], items=[other]).code == "draw.other_items"


FROM_PEOPLE: dict[str, Callable[[Study], list[dict[str, Any]]]] = {
    "same_name": lambda study: [{**label, "by": "model"} for label in study.labels()],
    "high_agreement": lambda study: [human(name, int(name[1:]) % 4 != 0) for name in study.drawn],
    "labelling_order": lambda study: [human(name, place >= 20) for place, name in enumerate(study.drawn)],
    "judge_seen": lambda study: [{**study.labels()[0], "judge_seen": True}, *study.labels()[1:]],
}


def test_labels_of_people_that_look_odd_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    steady = codes(study.evaluate(study.labels()))
    for code, labels in FROM_PEOPLE.items():
        assert code not in steady
        assert code in codes(study.evaluate(labels(study)))
    (tmp_path / "later").mkdir()
    later = Study(tmp_path / "later", 80, 40, "--draw", "2")
    assert "later_draw" in codes(later.evaluate(later.labels()))


@pytest.mark.parametrize("code", ["constant_judge", "useless_judge"])
def test_a_judge_that_says_the_same_of_everything_or_goes_against_people_is_not_used(code: str, tmp_path: Path) -> None:
    study = Study(tmp_path)
    said = [code == "constant_judge" or not study.truth(f"i{n}") for n in range(80)]
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", label) for n, label in enumerate(said)])
    found = study.evaluate(study.labels())
    assert code in codes(found)
    assert found["rate"] == found["human_rate"]


def test_two_people_who_share_no_item_are_advised_to(tmp_path: Path) -> None:
    study = Study(tmp_path)
    halves = [{**label, "by": "ben"} if place % 2 else label for place, label in enumerate(study.labels())]
    assert "labelled_once" in codes(study.evaluate(halves))
    both = [*study.labels(), *({**label, "by": "ben"} for label in study.labels()[:8])]
    assert not {"labelled_once", "one_person"} & {*codes(study.evaluate(both))}


def test_strata_come_from_the_draw(tmp_path: Path) -> None:
    study = Study(tmp_path, 80, 40, "--by", "judge", "--labels", str(tmp_path / "judge.jsonl"))
    found = study.evaluate([*map(study.sign, study.labels())])
    row = found.report["questions"]["rows"][0]
    assert (row["strata"], row["merged_strata"]) == (2, 0)
    assert found.report["labelling"]["judge_is_older"] is True
    # All of the items that the judge has as 1 are; of the 20 others as many as were found: the rate is their mean.
    zeros = [identity for identity in study.drawn if int(identity[1:]) % 4 == 0]
    share = sum(study.truth(identity) for identity in zeros) / len(zeros)
    assert found["rate"] == pytest.approx(60 / 80 + 20 / 80 * share)


def test_a_judge_whose_labels_were_raised_on_items_that_were_not_drawn_stands_out(tmp_path: Path) -> None:
    """All 20 zeros in the 40 of 80 drawn: C(60, 20) / C(80, 40) = 3.9e-8, twice for both sides."""
    study = Study(tmp_path)
    zeros = {*study.drawn[:20]}
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", f"i{n}" not in zeros) for n in range(80)])
    found = study.evaluate(study.labels())
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "uneven_judge"]
    assert "higher labels for items that were not drawn" in remark["message"]
    assert "(p 8e-08)" in remark["message"]


def test_strata_with_other_shares_of_drawn_items_are_no_uneven_judge(tmp_path: Path) -> None:
    """The judge's zeros are drawn more often on purpose: it is constant in each stratum."""
    rows = [judge(f"i{n}", n >= 6) for n in range(200)]
    lines(tmp_path / "judge.jsonl", rows)
    words = ("--by", "judge", "--labels", str(tmp_path / "before.jsonl"))
    lines(tmp_path / "before.jsonl", rows)
    study = Study(tmp_path, 200, 20, *words)
    lines(tmp_path / "judge.jsonl", rows)
    assert sum(int(identity[1:]) < 6 for identity in study.drawn) == 5
    assert "uneven_judge" not in codes(study.evaluate(study.labels()))


def test_drawn_items_must_be_as_in_the_items_file(tmp_path: Path) -> None:
    """Easier claims to label, or groups left out of the items for a shorter interval: neither is taken."""
    study = Study(tmp_path)
    path = Path(study.draw)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"claim":"claim', '"claim":"easy claim', 1), encoding="utf-8")
    assert refusal(study, study.labels()).code == "draw.changed"
    path.write_text(text, encoding="utf-8")
    grouped = [{"id": f"i{n}", "claim": f"claim {n}", "group": f"g{n}"} for n in range(80)]
    error = refusal(study, study.labels(), items=[lines(tmp_path / "grouped.jsonl", grouped)])
    assert error.code == "draw.changed"
    assert "grouped.jsonl" in str(error.found)


def test_labels_of_a_grouped_draw_need_its_groups_or_the_items(tmp_path: Path) -> None:
    study = Study(tmp_path)
    items = [{"id": f"i{n}", "group": n % 20} for n in range(80)]
    lines(tmp_path / "items.jsonl", items)
    Path(study.draw).unlink()
    words = ["sample", "--from", study.items, "--n", "40", "--out", study.draw]
    assert CliRunner().invoke(goldgate, words).exit_code == 0
    assert refusal(study, study.labels(), items=[]).code == "draw.other_groups"
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", n % 4 != 0, group=n % 20) for n in range(80)])
    found = study.evaluate(study.labels(), items=[])
    assert found.report["questions"]["rows"][0]["groups"] is not None


def test_a_judge_cannot_put_the_items_that_people_labelled_into_groups(tmp_path: Path) -> None:
    """A 1 and a 0 in each group: the interval would be shorter, as no group differs from another."""
    people = [human(f"i{n}", n % 2 == 0) for n in range(40)]
    judges = [judge(f"i{n}", n % 2 == 0, group=n // 2) for n in range(40)]
    paths = [lines(tmp_path / "people.jsonl", people), lines(tmp_path / "judge.jsonl", judges)]
    for labels in (paths, paths[::-1]):
        error = error_from(GoldgateError, evaluate_suite, load_suite("judged"), {"labels": labels}, None)
        assert (error.code, error.place.line, error.place.field) == (
            "labels.other_group",
            1,
            "group",
        )
        assert str(error.found).startswith("40 items that people labelled without a group: i0, ")
    lines(tmp_path / "people.jsonl", [{**each, "group": n // 2} for n, each in enumerate(people)])
    for labels in (paths, paths[::-1]):
        found = evaluate_suite(load_suite("judged"), {"labels": labels}, None)
        assert found.report["questions"]["rows"][0]["groups"] == 20


def test_labels_alone_do_not_say_what_was_left_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    kept = lines(tmp_path / "kept.jsonl", [label for label in study.labels() if label["label"]])
    found = study.evaluate([], labels=[kept], items=[], draw=[])
    assert (found["rate"], found.report["labelling"]["sampling"]) == (1.0, "complete")
    assert "no_items" in codes(found)
    whole = lines(tmp_path / "whole.jsonl", [human(f"i{n}", study.truth(f"i{n}")) for n in range(80)])
    assert "no_items" not in codes(study.evaluate([], labels=[whole], draw=[]))


@pytest.mark.parametrize("other", ["Ann", "ann ", "an\u200bn", "\uff41nn", "a.n.n"])
def test_one_person_under_two_spellings_stands_out(other: str, tmp_path: Path) -> None:
    study = Study(tmp_path)
    twice = [*study.labels(), *({**label, "by": other} for label in study.labels())]
    assert "alike_names" in codes(study.evaluate(twice))
    assert "alike_names" not in codes(study.evaluate([*study.labels(), *({**one, "by": "b"} for one in twice[:9])]))
    as_judge = [judge(f"i{n}", n % 4 != 0, by=other) for n in range(80)]
    lines(tmp_path / "judge.jsonl", as_judge)
    assert "same_name" in codes(study.evaluate(study.labels()))


def test_a_second_name_that_labels_what_the_first_was_unsure_of_stands_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    unsure = [label for label in study.labels() if not label["label"]]
    labels = [{**label, "label": label["label"] or "unsure"} for label in study.labels()]
    found = study.evaluate([*labels, *({**label, "by": "ben", "label": True} for label in unsure)])
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "unsure_overruled"]
    assert remark["counts"] == {"items": len(unsure)}


def test_judges_that_were_not_taken_and_labels_other_than_those_of_the_draw_stand_out(tmp_path: Path) -> None:
    before = lines(tmp_path / "before.jsonl", [judge(f"i{n}", n % 5 != 0, by="other") for n in range(80)])
    study = Study(tmp_path, 80, 40, "--labels", before)
    own = lines(tmp_path / "people.jsonl", study.labels())
    found = study.evaluate(study.labels(), labels=[own, study.judge, before], judge=["model"])
    assert "judges_left_out" in codes(found)
    assert "other_judge_labels" in codes(found)  # the labels that count are not from the file that the draw names
    assert "other_judge_labels" in codes(study.evaluate(study.labels()))
    assert "other_judge_labels" in codes(study.evaluate(study.labels(), labels=[own, study.judge, before]))
    assert "other_judge_labels" not in codes(study.evaluate([*map(study.sign, study.labels())], labels=[own, before]))


def test_a_protocol_cannot_give_unsure_a_number(tmp_path: Path) -> None:
    study = Study(tmp_path)
    labels = [{**label, "label": label["label"] or "unsure"} for label in study.labels()]
    error = refusal(study, labels, protocol={"judged": {"labels": {"unsure": 1}}})
    assert (error.code, error.place.field) == ("labels.unsure_is_no_word", "judged.labels.unsure")


def test_groups_that_are_strata_stand_out(tmp_path: Path) -> None:
    """Four groups are too few for a rate; drawn from each of them, there is one, of these four alone."""
    study = Study(tmp_path)
    lines(tmp_path / "items.jsonl", [{"id": f"i{n}", "group": n % 4} for n in range(80)])
    Path(study.draw).unlink()
    sample = ["sample", "--from", study.items, "--n", "40", "--by", "group", "--out", study.draw]
    assert CliRunner().invoke(goldgate, sample).exit_code == 0
    drawn = [json.loads(line)["id"] for line in Path(study.draw).read_text(encoding="utf-8").splitlines()[1:]]
    found = study.evaluate([human(identity, study.truth(identity)) for identity in drawn])
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "drawn_by_group"]
    assert remark["counts"] == {"groups": 4}


REVERSED = [{"id": f"i{n}", "claim": f"not claim {n}"} for n in range(80)]


def test_old_labels_of_items_that_were_made_anew_are_refused(tmp_path: Path) -> None:
    """The same ids give the same draw, so the old labels would fit what they were not given for."""
    study = Study(tmp_path)
    labels = [*map(study.sign, study.labels())]
    study.sample(study.items, 40)
    assert "unknown_items" in codes(study.evaluate(labels))  # the judge's do not say
    other = lines(tmp_path / "other.jsonl", REVERSED)
    error = refusal(study, labels, items=[other])
    assert (error.code, str(error.found)[:40]) == (
        "draw.items_changed",
        "other content in 40 of the 40 drawn items"[:40],
    )
    study.sample(other, 40)
    assert study.drawn_ids() == study.drawn
    error = refusal(study, labels, items=[other])
    assert error.code == "labels.other_item"
    assert (str(error.place.file).endswith("people.jsonl"), error.place.field) == (True, "item_sha256")
    assert str(error.found).startswith("40 items that showed something else: ")
    error = refusal(study, labels, items=[])  # the draw has the drawn items
    assert error.code == "labels.other_item"


def test_a_judges_labels_of_other_items_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    other = lines(tmp_path / "other.jsonl", REVERSED)
    study.sample(other, 40)
    lines(tmp_path / "judge.jsonl", [study.sign(judge(f"i{n}", n % 4 != 0)) for n in range(80)])
    error = refusal(study, study.labels(), items=[other])
    assert error.code == "labels.other_item"
    assert (str(error.place.file).endswith("judge.jsonl"), error.place.line) == (True, 1)


def test_items_that_were_not_drawn_cannot_be_rewritten(tmp_path: Path) -> None:
    study = Study(tmp_path)
    kept = {*study.drawn}
    items = [{"id": f"i{n}", "claim": f"{'' if f'i{n}' in kept else 'easy '}claim {n}"} for n in range(80)]
    error = refusal(study, study.labels(), items=[lines(tmp_path / "other.jsonl", items)])
    assert (error.code, error.found) == ("draw.items_changed", "other content in items that were not drawn")
    # Without the items, labels of the judge say what it saw.
    digests = {item["id"]: shown_sha256(item) for item in items}
    rows = [{**judge(f"i{n}", n % 4 != 0), "item_sha256": digests[f"i{n}"]} for n in range(80)]
    lines(tmp_path / "judge.jsonl", rows)
    assert refusal(study, study.labels(), items=[]).code == "draw.items_changed"
    lines(tmp_path / "judge.jsonl", [study.sign(judge(f"i{n}", n % 4 != 0)) for n in range(80)])
    assert study.evaluate([*map(study.sign, study.labels())], items=[])["rate"] is not None


def test_two_labels_of_one_id_for_different_things_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    first, *rest = map(study.sign, study.labels())
    error = refusal(study, [first, {**first, "by": "ben", "item_sha256": "0" * 64}, *rest], items=[], draw=[])
    assert (error.code, error.place.line) == ("labels.two_items", 2)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("item_sha256", "abc", "labels.bad_item_sha256"),
        ("item_sha256", 3, "labels.bad_item_sha256"),
        ("item_sha256", ["0" * 64], "labels.bad_item_sha256"),
        ("drawn", 0, "labels.bad_drawn"),
        ("drawn", "40", "labels.bad_drawn"),
        ("drawn", True, "labels.bad_drawn"),
    ],
)
def test_a_digest_or_size_that_is_none_is_an_error_with_its_line(
    field: str, value: object, code: str, tmp_path: Path
) -> None:
    study = Study(tmp_path)
    first, second, *rest = study.labels()
    error = refusal(study, [first, {**second, field: value}, *rest])
    assert (error.code, error.place.line, error.place.field) == (code, 2, field)


def test_labels_that_do_not_say_what_was_shown_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    found = study.evaluate([*map(study.sign, study.labels()[:30]), *study.labels()[30:]])
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "unknown_items"]
    assert remark["counts"] == {"people": 10, "judges": 80}


def test_labels_taken_off_the_end_of_a_draw_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    labels = [*map(study.sign, study.labels())]
    study.sample(study.items, 20)
    assert study.drawn_ids() == study.drawn[:20]
    found = study.evaluate(labels[:20])
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "other_draw_size"]
    assert remark["counts"]["other_labels"] == 20
    assert found.report["labelling"]["label_draws"]["sizes"] == [40]
    stripped = [{name: value for name, value in label.items() if name != "drawn"} for label in labels[:20]]
    assert "other_draw_size" in codes(study.evaluate(stripped))


def test_a_judge_that_does_worse_on_labels_drawn_later_is_seen(tmp_path: Path) -> None:
    """20 labels that the judge knows, and of the 20 later ones every second is against it."""
    study = Study(tmp_path)
    labels = []
    for place, identity in enumerate(study.drawn):
        by_judge = int(identity[1:]) % 4 != 0
        label = study.sign(human(identity, by_judge if place < 20 or place % 2 else not by_judge))
        labels.append({**label, "drawn": 20 if place < 20 else 40})
    found = study.evaluate(labels)
    assert found.report["labelling"]["label_draws"] == {
        "sizes": [20, 40],
        "other_labels": 20,
        "first_agreed": 20,
        "first_compared": 20,
        "later_agreed": 10,
        "later_compared": 20,
    }
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "other_draw_size"]
    assert "agree on 20/20 items of the smallest draw, and on 10/20 later ones" in remark["message"]


def test_a_judge_of_which_nothing_could_be_read_is_no_constant_judge(tmp_path: Path) -> None:
    study = Study(tmp_path)
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", None) for n in range(80)])
    found = codes(study.evaluate(study.labels()))
    assert "unread_judge" in found
    assert "constant_judge" not in found


def test_unsure_labels_are_not_called_missing(tmp_path: Path) -> None:
    study = Study(tmp_path)
    first, *rest = study.labels()
    found = study.evaluate([{**first, "label": "unsure"}, *rest])
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "unsure"]
    assert remark["message"].startswith("1 drawn item unsure or without a label of a person")


def test_labels_of_a_draw_stand_out_where_the_items_were_cut_to_the_good_ones(tmp_path: Path) -> None:
    """Without --draw and with an items file of their own, all labels that are left are complete."""
    study = Study(tmp_path)
    labels = [*map(study.sign, study.labels())]
    good = [label for label in labels if label["label"]]
    items = lines(tmp_path / "good.jsonl", [{"id": one["id"], "claim": f"claim {one['id'][1:]}"} for one in good])
    found = study.evaluate(good, labels=[lines(tmp_path / "kept.jsonl", good)], items=[items], draw=[])
    assert (found["rate"], found.report["labelling"]["sampling"]) == (1.0, "complete")
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "other_draw_size"]
    assert remark["counts"]["other_labels"] == len(good)
    assert "no --draw" in remark["message"]
    assert found.report["labelling"]["label_draws"]["sizes"] == [40]


def test_labels_of_a_draw_of_everything_need_no_draw(tmp_path: Path) -> None:
    study = Study(tmp_path, 40, 40)
    found = study.evaluate([*map(study.sign, study.labels())], draw=[])
    assert "other_draw_size" not in codes(found)


@pytest.mark.parametrize("group", [None, "one of its own"])
def test_groups_that_were_taken_out_of_items_and_draw_are_refused_where_labels_name_them(
    group: str | None, tmp_path: Path
) -> None:
    """The draw is the same without groups, so that items and draw would fit each other."""
    study = Study(tmp_path)
    items = [{"id": f"i{n}", "claim": f"claim {n}"} for n in range(80)]
    lines(tmp_path / "items.jsonl", [{**item, "group": f"run {n % 20}"} for n, item in enumerate(items)])
    study.sample(study.items, 40)
    labels = [{**study.sign(one), "group": f"run {int(one['id'][1:]) % 20}"} for one in study.labels()]
    assert study.evaluate(labels).report["questions"]["rows"][0]["groups"] is not None
    alone = [item if group is None else {**item, "group": item["id"]} for item in items]
    lines(tmp_path / "items.jsonl", alone)
    study.sample(study.items, 40)
    error = refusal(study, labels)
    assert (error.code, error.place.field) == ("labels.other_group", "group")
    assert str(error.found).startswith("40 items in another group: ")


def test_items_under_a_question_that_no_gate_looks_at_stand_out(tmp_path: Path) -> None:
    """Bad items are moved to a question whose name looks the same."""
    study = Study(tmp_path)
    names = {f"i{n}": "support" if study.truth(f"i{n}") else "support " for n in range(80)}
    items = [{"id": f"i{n}", "claim": f"claim {n}", "question": names[f"i{n}"]} for n in range(80)]
    lines(tmp_path / "items.jsonl", items)
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", n % 4 != 0, question=names[f"i{n}"]) for n in range(80)])
    study.sample(study.items, 40)
    labels = [human(name, study.truth(name), question=names[name]) for name in study.drawn_ids()]
    found = study.evaluate(labels, protocol={"gates": {"rate[support]": {"min": 0.8}}})
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "ungated_questions"]
    assert remark["counts"] == {"questions": 1, "items": 10}
    assert "'support '" in remark["message"]
    both = {"gates": {"rate[support]": {"min": 0.8}, "human_rate[support ]": {"min": 0}}}
    assert "ungated_questions" not in codes(study.evaluate(labels, protocol=both))
    assert "ungated_questions" not in codes(study.evaluate(labels))


@pytest.mark.parametrize(
    ("name", "gate", "ungated"),
    [
        ("a/b", 'rate["a/b"]', 0),
        ('"', 'rate["\\""]', 0),
        ("[x", "rate[[x]", 0),
        ("x", "rate[[x]", 1),
        ("x", 'rate["x"]', 0),
    ],
)
def test_a_gate_looks_at_the_question_that_it_names_however_it_is_written(
    name: str, gate: str, ungated: int, tmp_path: Path
) -> None:
    """`[x` and `x`: the name of a gate on the first ends as that of one on the second would."""
    names = {name, "[x" if ungated else "other"}
    people = [human(f"i{n}", True, question=question) for question in names for n in range(12)]
    path = lines(tmp_path / "people.jsonl", people)
    protocol = {"gates": {gate: {"min": 0.95}}}
    folder = tmp_path / "out"
    folder.mkdir()
    with (folder / "samples.jsonl").open("wb") as records:
        found = evaluate_suite(load_suite("judged"), {"labels": [path]}, protocol, records=records)
    (folder / "report.json").write_text(found.to_json(), encoding="utf-8")
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "ungated_questions"]
    assert (repr(name) in remark["message"]) == bool(ungated)
    few = [each["message"] for each in found.report["stands_out"] if each["code"] == "few_labels"]
    assert len([message for message in few if "a gate of ≥ 0.95 needs" in message]) == 1
    result = CliRunner().invoke(goldgate, ["power", str(folder), "--format", "json"])
    plan = json.loads(result.stdout)
    kinds = {each["question"]: [target["kind"] for target in each["targets"]] for each in plan["questions"]}
    assert ("min" in kinds[name]) != bool(ungated)


def test_copies_of_an_item_under_other_ids_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    items = [{"id": f"i{n}", "claim": f"claim {min(n, 20)}"} for n in range(80)]
    lines(tmp_path / "items.jsonl", items)
    study.sample(study.items, 40)
    found = study.evaluate([human(name, study.truth(name)) for name in study.drawn_ids()])
    [remark] = [each for each in found.report["stands_out"] if each["code"] == "repeated_items"]
    assert remark["counts"] == {"items": 59}


@pytest.mark.parametrize("raised", [0.6, 0.9])
def test_scores_that_were_raised_on_one_side_of_their_mean_stand_out(raised: float, tmp_path: Path) -> None:
    """As many scores above the mean among drawn items as among the others: a cut through the mean sees nothing."""
    study = Study(tmp_path, 400, 60)
    drawn = {*study.drawn}
    scores = [1 if n % 4 else 0 if f"i{n}" in drawn else raised for n in range(400)]
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", score) for n, score in enumerate(scores)])
    found = study.evaluate([human(name, int(name[1:]) % 4 != 0) for name in study.drawn])
    assert found["rate"] > found["human_rate"] + 0.1  # type: ignore[operator]
    assert "uneven_judge" in codes(found)
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", (n * 7 % 101) / 100) for n in range(400)])
    assert "uneven_judge" not in codes(study.evaluate(study.labels()))


@pytest.mark.parametrize("key", ["drawn", "item_sha256", "judge_seen"])
def test_a_label_that_says_twice_what_was_shown_is_refused(key: str, tmp_path: Path) -> None:
    study = Study(tmp_path)
    labels = [{**study.sign(one), "judge_seen": False} for one in study.labels()]
    path = Path(study.judge)
    text = "".join(f'{{"{key}": {json.dumps(one[key])}, {json.dumps(one)[1:]}\n' for one in labels)
    path.write_text(text, encoding="utf-8")
    assert refusal(study, []).code == "labels.duplicate_key"


def test_people_cannot_be_added_in_the_judges_file(tmp_path: Path) -> None:
    study = Study(tmp_path)
    own = lines(tmp_path / "people.jsonl", study.labels())
    rows = [json.loads(line) for line in Path(study.judge).read_text(encoding="utf-8").splitlines()]
    added = [human(identity, True, by=f"new {n}") for identity in study.drawn for n in range(6)]
    mixed = lines(tmp_path / "mixed.jsonl", [*rows, *added])
    error = refusal(study, [], labels=[own, mixed])
    assert (error.code, error.place.line, error.place.field) == ("labels.two_kinds", 81, "kind")
    named = {"judged": {"people": ["ann", "bob"]}}
    error = refusal(study, [], labels=[own, mixed], protocol=named)
    assert (error.code, error.found, error.expected) == ("labels.other_person", "new 0", "ann, bob")
    more = lines(tmp_path / "more.jsonl", [*rows, *(human(identity, True, by="bob") for identity in study.drawn[8:])])
    bobs = lines(tmp_path / "bob.jsonl", [human(identity, False, by="bob") for identity in study.drawn[:8]])
    error = refusal(study, [], labels=[own, bobs, more], protocol=named)
    assert (error.code, error.place.file, error.found) == ("labels.two_kinds", more, "bob")
    both = lines(tmp_path / "both.jsonl", [*rows, *study.labels()])
    assert (
        study.evaluate(study.labels(), labels=[both], protocol=named)["human_rate"]
        == study.evaluate(study.labels())["human_rate"]
    )


def test_drawing_again_with_other_labels_of_the_judge_does_not_make_them_older(tmp_path: Path) -> None:
    """A judge that copied the labels of people draws the same items, and its file is the one that the draw names."""
    study = Study(tmp_path, 80, 40, "--labels", str(tmp_path / "judge.jsonl"))
    labels = [*map(study.sign, study.labels())]
    first = study.evaluate(labels)
    assert first.report["labelling"]["judge_is_older"] is True
    assert "other_judge_labels" not in codes(first)
    copied = {label["id"]: label["label"] for label in labels}
    lines(tmp_path / "judge.jsonl", [judge(f"i{n}", copied.get(f"i{n}", True)) for n in range(80)])
    words = ["sample", "--from", study.items, "--n", "40", "--labels", study.judge, "--out", study.draw]
    assert CliRunner().invoke(goldgate, words).exit_code == 0
    assert study.drawn_ids() == study.drawn
    again = study.evaluate(labels)
    assert again.report["labelling"]["judge_is_older"] is False
    assert "other_judge_labels" in codes(again)
    assert study.evaluate(study.labels()).report["labelling"]["judge_is_older"] is False  # labels that do not say


def test_who_labelled_how_much_is_in_the_report_and_the_signature(tmp_path: Path) -> None:
    study = Study(tmp_path)
    own = lines(tmp_path / "people.jsonl", study.labels())
    more = lines(tmp_path / "more.jsonl", [human(identity, True, by="new") for identity in study.drawn[:6]])
    found = study.evaluate(study.labels(), labels=[more, own, study.judge])
    files = [(each["people"], each["judges"]) for each in found.report["inputs"]["labels"]]
    assert files == [({"new": 6}, {}), ({"ann": 40}, {}), ({}, {"model": 80})]
    assert "|people:ann 40; new 6|" in found.report["signature"]


def test_what_the_judge_left_out_does_not_agree(tmp_path: Path) -> None:
    """40 drawn items, of which the judge labels only the first two of those that are 1 and of those that are 0."""
    study = Study(tmp_path)
    labels = study.labels()
    kept = [each["id"] for value in (True, False) for each in [e for e in labels if e["label"] is value][:2]]
    ones = sum(each["label"] for each in labels)
    for other in (None, 0.5):
        rows = [judge(f"i{n}", study.truth(f"i{n}") if f"i{n}" in kept else other) for n in range(80)]
        lines(Path(study.judge), rows)
        metrics: Any = study.evaluate(labels).report["metrics"]["main"]
        counts = {name: (metrics[name]["numerator"], metrics[name]["denominator"]) for name in AGREED}
        assert counts == {
            "agreement": (4, 40), "judge_sensitivity": (2, ones), "judge_specificity": (2, 40 - ones),
        }  # fmt: skip


AGREED = ("agreement", "judge_sensitivity", "judge_specificity")


def test_a_judge_that_copied_the_labels_and_is_lenient_elsewhere_does_not_pass(tmp_path: Path) -> None:
    study = Study(tmp_path, 200, 20)
    labels = [study.sign(human(identity, n % 4 != 0)) for n, identity in enumerate(study.drawn)]  # 15 of 20
    copied = {each["id"]: each["label"] for each in labels}
    copied[study.drawn[0]] = True  # a deliberate miss
    lines(Path(study.judge), [judge(f"i{n}", copied.get(f"i{n}", True)) for n in range(200)])
    gates = {"gates": {"rate": {"min": 0.6}}}
    found = study.evaluate(labels, protocol=gates)
    rate: Any = found.report["metrics"]["main"]["rate"]
    assert rate["value"] > 0.9
    assert rate["interval"]["low"] > 0.6
    [gate] = found.report["gates"]
    # people alone: 15 of 20, p = 16/22, v = var'/22: t at 19 degrees
    assert gate["verdict"] == "INCONCLUSIVE"
    assert "bound of people's labels alone, because no draw shows that the judge's labels are older" in gate["reason"]
    assert "high_agreement" in codes(found)
    Path(study.draw).unlink()
    words = ["sample", "--from", study.items, "--n", "20", "--labels", study.judge, "--out", study.draw]
    assert CliRunner().invoke(goldgate, words).exit_code == 0  # as if the judge had come first
    [gate] = study.evaluate(labels, protocol=gates).report["gates"]
    assert gate["verdict"] == "INCONCLUSIVE"  # labels of people that do not name those of the judge
    [gate] = study.evaluate([*map(study.sign, labels)], protocol=gates).report["gates"]
    assert (gate["verdict"], "alone" in gate["reason"]) == ("PASS", False)


@pytest.mark.parametrize(("by", "chosen"), [("bob", "bad"), ("bob", "any"), ("bob", "none")])
def test_a_person_who_labelled_only_what_others_called_bad_is_a_finding(tmp_path: Path, by: str, chosen: str) -> None:
    study = Study(tmp_path)
    labels = study.labels()
    items = {"bad": [each["id"] for each in labels if not each["label"]][:3], "any": study.drawn[:10], "none": []}
    found = study.evaluate([*labels, *(study.sign(human(identity, True, by)) for identity in items[chosen])])
    findings = [each for each in found.report["findings"] if each["code"] == "only_bad_items"]
    assert [each["id"] for each in findings] == (["bob"] if chosen == "bad" else [])
