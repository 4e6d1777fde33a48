"""Drawing items for people: the same draw from the same items everywhere, and a file that shows what was changed."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.readers.draw import (
    DrawSettings,
    ItemKey,
    allocate,
    assign_strata,
    draw_items,
    item_sha256,
    items_sha256,
    judge_strata,
    load_draw,
    open_items,
)
from tests.cases import error_from

from .labelling import shown_sha256

Change = Callable[[list[dict[str, Any]]], object]

SHOWN = "0" * 64  # stands for what the items show


def drawing(n: int, **more: Any) -> DrawSettings:
    return DrawSettings(n, SHOWN, **more)


SIMPLE = {ItemKey(f"i{number}"): "" for number in range(40)}


def lines(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def write(path: Path, population: dict[ItemKey, str], settings: DrawSettings) -> str:
    header, keys = draw_items(population, settings)
    items: list[dict[str, Any]] = [{"id": key.id, "question": key.question} for key in keys]
    return lines(path, [dict(header), *items])


def edited(path: str, change: Change) -> str:
    records = [json.loads(line) for line in Path(path).read_text().splitlines()]
    change(records)
    return lines(Path(path), records)


def test_the_draw_of_four_items_is_this_one_on_every_machine() -> None:
    # Fixed when the format was made: another value here would make every stored draw look forged.
    header, keys = draw_items({ItemKey(name): "" for name in "abcd"}, drawing(2))
    assert [key.id for key in keys] == ["c", "d"]
    assert header["signature"] == "fe2b0cc6d60dcde320800e3be6a6f2353b74080706a35010c432f125fe9c5af7"


def test_a_larger_simple_draw_begins_with_the_smaller_one() -> None:
    small, large = draw_items(SIMPLE, drawing(10)).keys, draw_items(SIMPLE, drawing(25)).keys
    assert large[:10] == small


def test_every_item_is_drawn_about_equally_often() -> None:
    # 400 draws of 10 of 40: 100 expected for each item, standard deviation sqrt(400 · ¼ · ¾) = 8.7.
    times = Counter(key for draw in range(1, 401) for key in draw_items(SIMPLE, drawing(10, draw=draw)).keys)
    assert len(times) == 40
    assert 100 - 5 * 8.7 < min(times.values()) <= max(times.values()) < 100 + 5 * 8.7


def test_fewer_items_than_asked_for_are_all_drawn() -> None:
    header, keys = draw_items(SIMPLE, drawing(100))
    assert (header["n"], header["items"], len(keys)) == (40, 40, 40)


@pytest.mark.parametrize(
    ("sizes", "n", "shares"),
    [
        ({"a": 700, "b": 300}, 100, {"a": 70, "b": 30}),
        ({"a": 980, "b": 20}, 100, {"a": 90, "b": 10}),  # 2 by size, at least 100/10
        ({"a": 997, "b": 3}, 100, {"a": 97, "b": 3}),  # the stratum has no more
        ({"a": 90, "b": 10}, 30, {"a": 25, "b": 5}),  # 3 by size, at least 5
        ({"a": 1, "b": 1, "c": 1}, 2, None),
        ({"a": 100, "b": 100, "c": 100}, 100, {"a": 34, "b": 33, "c": 33}),  # 33⅓ each: the first name has one more
        ({"a": 900, "b": 60, "c": 40}, 50, {"a": 40, "b": 5, "c": 5}),  # 45, 3 and 2 by size
        ({"a": 7}, 3, {"a": 3}),
        ({}, 0, {}),
    ],
)
def test_strata_share_a_draw_by_size_with_a_least_number(
    sizes: dict[str, int], n: int, shares: dict[str, int] | None
) -> None:
    if shares is None:
        with pytest.raises(ConfigError, match="cannot be shared among 3 strata"):
            allocate(sizes, n)
    else:
        assert allocate(sizes, n) == shares


def test_what_an_item_shows_is_all_but_what_names_it() -> None:
    """The digest of {"claim":"é","n":1}, keys sorted and without blanks: sha256sum gives the same."""
    item = {"n": 1, "id": "a", "claim": "é", "group": "g", "question": "tone"}
    assert item_sha256(item) == hashlib.sha256('{"claim":"é","n":1}'.encode()).hexdigest()
    assert item_sha256(item) == item_sha256({"claim": "é", "n": 1, "id": "b"}) == shown_sha256(item)
    assert item_sha256(item) != item_sha256({**item, "claim": "e"})


def test_what_the_items_show_is_signed_and_does_not_change_what_is_drawn() -> None:
    one, other = (draw_items(SIMPLE, DrawSettings(10, shown)) for shown in (SHOWN, "1" * 64))
    assert one.keys == other.keys
    assert one.header["signature"] != other.header["signature"]


def shown(keys: Iterable[ItemKey], text: str) -> dict[ItemKey, str]:
    return {key: item_sha256({"text": f"{text} {key.id}"}) for key in keys}


def test_items_that_show_something_else_are_refused_and_the_drawn_ones_among_them_named(tmp_path: Path) -> None:
    before = shown(SIMPLE, "old")
    header, keys = draw_items(SIMPLE, DrawSettings(10, items_sha256(before)))
    path = lines(tmp_path / "drawn.jsonl", [dict(header), *({"id": key.id, "text": f"old {key.id}"} for key in keys)])
    draw = load_draw(path)
    draw.check(SIMPLE, before)
    undrawn = [key for key in SIMPLE if key not in keys]
    drawn = f"1 of the 10 drawn items: {keys[0].id}"
    for changed, words in ((keys[:1], drawn), (undrawn, "items that were not drawn")):
        refused_with = error_from(InputError, draw.check, SIMPLE, before | shown(changed, "new"))
        assert refused_with.code == "draw.items_changed"
        assert words in str(refused_with.found)
        assert "draws the same ids, and label again what was changed" in str(refused_with.advice)
    edited(path, lambda records: records[1].update(text="easier"))
    assert error_from(InputError, load_draw(path).check, SIMPLE, before).code == "draw.changed"


def test_a_draw_of_another_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    def age(records: list[dict[str, Any]]) -> None:
        del records[0]["items_sha256"]
        sign_anew(records, goldgate_draw=1)

    refused_with = error_from(InputError, load_draw, edited(write(tmp_path / "drawn.jsonl", SIMPLE, drawing(10)), age))
    assert refused_with.code == "draw.other_version"
    assert "the drawn items are the same" in str(refused_with.advice)


def sign_anew(records: list[dict[str, Any]], **changes: object) -> None:
    from goldgate.readers.draw import _signature

    records[0] |= changes
    records[0]["signature"] = _signature(records[0])


@pytest.mark.parametrize(
    "forge",
    [
        lambda records: records.pop(),
        lambda records: records.reverse() or records.insert(0, records.pop()),
        lambda records: records[1].update(id="i99"),
        lambda records: sign_anew(records, draw=2),
        lambda records: sign_anew(records, n=5),
        lambda records: sign_anew(records, note="mine"),
    ],
    ids=["one left out", "another order", "another id", "another draw", "stopped early", "another key"],
)
def test_a_forged_draw_is_refused_although_it_is_signed(tmp_path: Path, forge: Change) -> None:
    draw = load_draw(edited(write(tmp_path / "drawn.jsonl", SIMPLE, drawing(10)), forge))
    with pytest.raises(InputError, match="drawing again gives another draw"):
        draw.check(SIMPLE, None)


def test_a_changed_header_is_refused_at_once(tmp_path: Path) -> None:
    path = edited(write(tmp_path / "drawn.jsonl", SIMPLE, drawing(10)), lambda records: records[0].update(n=9))
    with pytest.raises(InputError, match="drawing again gives another draw"):
        load_draw(path)


@pytest.mark.parametrize("n", [-1, 2.5, "ten", None])
def test_a_header_of_the_wrong_type_names_the_field(tmp_path: Path, n: object) -> None:
    path = edited(write(tmp_path / "drawn.jsonl", SIMPLE, drawing(10)), lambda records: sign_anew(records, n=n))
    assert error_from(InputError, load_draw, path).place.field == "/n"


def test_a_file_of_items_is_not_a_draw_and_the_other_way_round(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is not a draw"):
        load_draw(lines(tmp_path / "items.jsonl", [{"id": "a"}]))
    with (
        pytest.raises(InputError, match="this is a draw"),
        open_items(write(tmp_path / "drawn.jsonl", SIMPLE, drawing(3))) as items,
    ):
        list(items)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"id": "a"}, {"id": "a"}], "two items have the same id"),
        ([{"id": 1}, {"id": "1"}], "two items have the same id"),
        ([{"id": ""}], "an item needs an id"),
        ([{"text": "a"}], "an item needs an id"),
        ([{"id": "a", "question": 3}], "a question is named by a string"),
        ([{"id": "a", "group": ["b"]}], "a group is named by a string"),
    ],
)
def test_bad_items_are_errors_with_their_line(tmp_path: Path, records: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message) as error, open_items(lines(tmp_path / "items", records)) as items:
        list(items)
    assert error.value.place.line == len(records)


def test_an_item_that_is_nested_too_deeply_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_text('{"id": "a"}\n{"id": "b", "x": ' + "[" * 400 + "]" * 400 + "}\n")
    with pytest.raises(InputError, match="nested too deeply") as error, open_items(str(path)) as items:
        list(items)
    assert error.value.place.line == 2


def test_strata_are_labels_of_the_judge_or_values_of_a_field(tmp_path: Path) -> None:
    labels = [True, 0, 0.25, 0.5, "partly", None]
    judge = [
        {"id": name, "label": label, "by": "m", "kind": "judge"} for name, label in zip("abcdef", labels, strict=True)
    ]
    items = {ItemKey(name): {"id": name, "group": "g", "size": 3, "last": name == "g"} for name in "abcdefg"}
    strata = assign_strata(items.items(), "judge", judge_strata(lines(tmp_path / "labels", judge)))
    assert [*strata.values()] == ["1", "0", "below 0.5", "from 0.5", "partly", "no label", "no label"]
    assert {*assign_strata(items.items(), "group").values()} == {"g"}
    assert {*assign_strata(items.items(), "size").values()} == {"3"}
    assert {*assign_strata(items.items(), "last").values()} == {"false", "true"}
    assert {*assign_strata(items.items(), "question").values()} == {"default"}
    assert {*assign_strata(items.items(), "nothing").values()} == {"none"}
    with pytest.raises(InputError, match="cannot be put into a stratum"):
        assign_strata([(ItemKey("a"), {"id": "a", "size": [3]})], "size")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"by": "other"}, "labels of one judge"),
        ({"kind": "human"}, "labels of one judge"),
        ({"id": "a", "label": False}, "two items have the same id"),
    ],
)
def test_strata_come_from_one_judge(tmp_path: Path, second: dict[str, Any], message: str) -> None:
    judge = [{"id": name, "label": True, "by": "m", "kind": "judge"} for name in "ab"]
    with pytest.raises(InputError, match=message) as error:
        judge_strata(lines(tmp_path / "labels", [judge[0], judge[1] | second]))
    assert error.value.code.startswith("labels.")
