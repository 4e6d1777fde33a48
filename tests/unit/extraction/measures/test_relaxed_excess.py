"""How long matched arguments are against gold's, worked out by hand."""

from __future__ import annotations

import pytest

from goldgate import render
from goldgate.errors import ConfigError
from tests.cases import cases

from ...helpers import Json, counts, event, gate, gold, judge, score


def one_role(*values: str) -> Json:
    return event("T", *(("r", value) for value in values))


@cases(
    ("predicted", "wanted", "excess", "shortfall"),
    [
        # lengths are those of the normalized forms: "a b" is 2 long
        pytest.param(["a b", "cd"], ["ab", "cd"], (4, 4), (0, 4), id="hits-are-as-long"),
        # abcd–ab: 4 against 2
        pytest.param(["abcd"], ["ab"], (4, 2), (0, 2), id="padded"),
        # a–abcd: counts as long as gold's, and lacks 3 of 4
        pytest.param(["a"], ["abcd"], (4, 4), (3, 4), id="cut"),
        # abxxxx–ab and c–cdef: 6 + 4 over 2 + 4; short ones do not make up for long ones
        pytest.param(["abxxxx", "c"], ["ab", "cdef"], (10, 6), (3, 6), id="neither-hides-the-other"),
        # xy is a hit, abcd–ab is not, zzz is matched with nothing
        pytest.param(["xy", "abcd", "zzz"], ["xy", "ab", "q"], (6, 4), (0, 4), id="unmatched-do-not-count"),
        # rerouted: ab–a and b–ab; 2 against 1, and 1 against 2
        pytest.param(["ab", "b"], ["ab", "a"], (4, 3), (1, 3), id="rerouted-hit"),
        pytest.param(["zzz"], ["q"], (0, 0), (0, 0), id="nothing-matched"),
    ],
)
def test_lengths_of_pairs(
    predicted: list[str], wanted: list[str], excess: tuple[int, int], shortfall: tuple[int, int]
) -> None:
    result = score([one_role(*predicted)], gold(one_role(*wanted)))
    assert counts(result, "relaxed_excess", "relaxed_shortfall") == (excess, shortfall)


def test_record_has_the_lengths() -> None:
    record = score([one_role("ab", "b")], gold(one_role("ab", "a"))).record
    pairs = [(len(pair["predicted"][2]), len(pair["gold"][2])) for pair in record["relaxed_pairs"]]
    assert sum(max(pair) for pair in pairs) == 4
    assert sum(wanted for _, wanted in pairs) == 3


def test_whole_text_in_every_role_is_no_longer_silent() -> None:
    text = "甲公司于2020年1月向乙银行质押股份"
    wanted = event("质押", ("质押方", "甲公司"), ("质权方", "乙银行"))
    padded = event("质押", ("质押方", text), ("质权方", text))
    result = judge(
        [gold(wanted, text=text)], [{"id": "1", "events": [padded]}], gates={"relaxed_excess": gate(max="1.5")}
    )
    assert (result["relaxed_f1"], result["strict_f1"], result["hallucination_rate"]) == (1, 0, 0)
    assert counts(result, "relaxed_excess") == ((2 * len(text), 6),)
    assert result.status == "FAIL"
    assert [entry["code"] for entry in result.report["stands_out"]] == ["zero", "relaxed_excess"]
    for format in ("text", "markdown", "json"):
        shown = render(result, format)
        assert "matched arguments are 6.33 times as long as gold's" in " ".join(shown.split())


def test_one_character_for_every_value_is_no_longer_silent() -> None:
    result = judge([gold(one_role("abcd"))], [{"id": "1", "events": [one_role("a")]}])
    assert result["relaxed_f1"] == 1
    assert "relaxed_shortfall" in [entry["code"] for entry in result.report["stands_out"]]


@cases(
    ("predicted", "wanted", "stubs"),
    [
        pytest.param(["abcdef", "甲"], ["abcdef", "甲"], 0, id="equal-to-gold"),
        pytest.param(["甲"], ["甲公司"], 1, id="a-character-of-gold"),
        pytest.param(["中行"], ["中国银行"], 0, id="half-of-it"),
        pytest.param(["中国"], ["中国工商银行"], 1, id="a-third-of-it"),
        pytest.param(["%"], ["5%"], 1, id="a-mark"),
        pytest.param(["5"], ["5人"], 0, id="a-digit-of-two-characters"),
        pytest.param(["5"], ["5千人"], 1, id="a-digit-of-three-characters"),
        pytest.param(["x"], ["yz"], 1, id="a-letter-that-is-paired-with-nothing"),
        pytest.param(["6"], ["5"], 0, id="another-digit"),
        pytest.param(["xy"], ["abcdefgh"], 0, id="short-and-wrong"),
        pytest.param(["ab", "b"], ["ab", "a"], 1, id="a-hit-that-is-paired-otherwise"),
    ],
)
def test_stubs_are_counted_pair_by_pair(predicted: list[str], wanted: list[str], stubs: int) -> None:
    result = score([one_role(*predicted)], gold(one_role(*wanted)))
    assert counts(result, "stub_rate") == ((stubs, len(predicted)),)


def test_stubs_that_hide_what_is_made_up_stand_out_where_means_do_not() -> None:
    text = "甲公司于2020年1月向乙银行质押股份"
    kept = [("质押方", "甲公司"), ("质权方", "乙银行"), ("日期", "2020年1月"), ("质押物", "股份")]
    wanted = gold(event("质押", *kept, ("事件", "甲方出质")), text=text)

    def answered(*values: tuple[str, str]) -> Json:
        result = judge([wanted], [{"id": "1", "events": [event("质押", *kept, *values)]}])
        return {"codes": [entry["code"] for entry in result.report["stands_out"]], "result": result}

    made_up, stub = answered(("事件", "甲方出质了")), answered(("事件", "甲"))
    assert (made_up["result"]["hallucination_rate"], stub["result"]["hallucination_rate"]) == (1, 0)
    # 3 of 17 characters are missing, which is less than 1/3
    assert "relaxed_shortfall" not in stub["codes"]
    assert ("stub_values" in made_up["codes"], "stub_values" in stub["codes"]) == (False, True)


def test_bound_above_one_is_no_mistake_for_a_ratio() -> None:
    judge([gold(one_role("ab"))], [], gates={"relaxed_excess": gate(max="2")})
    with pytest.raises(ConfigError, match="relaxed_shortfall is a rate"):
        judge([gold(one_role("ab"))], [], gates={"relaxed_shortfall": gate(max="2")})


def test_nothing_stands_out_in_a_good_answer() -> None:
    gates = {"strict_f1": gate(min="1")}
    report = judge([gold(one_role("ab"), text="ab")], [{"id": "1", "events": [one_role("ab")]}], gates=gates).report
    assert report["stands_out"] == []
    assert "stands out" not in render(report, "text") + render(report, "markdown")
