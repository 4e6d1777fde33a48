"""Whether labels belong to their items and their draw, and what stands out in who gave them and how."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypedDict

from goldgate.core.contracts import RemarkValue
from goldgate.core.finding import Finding, remark
from goldgate.core.page import count_text
from goldgate.errors import InputError, Place
from goldgate.readers.draw import Digests, Draw, ItemKey, first_ids
from goldgate.readers.labels import HUMAN, ITEM_SHA256, JUDGE, UNSURE, ItemLabels, LabelSet

_MAX_NAMED = 3


def require_groups(labels: LabelSet, groups: Mapping[ItemKey, str | None]) -> None:
    """A label that names another group than its item is an error: no digest holds the groups of items."""
    groups_of_labels = {key: item.group for key, item in labels.items.items() if key in groups}
    others = [key for key, group in groups_of_labels.items() if group not in (None, groups[key])]
    if others:
        first = min(others)
        record = next(each for each in labels.located.located(first) if each.value.get("group") is not None)
        raise InputError(
            "labels.other_group",
            "labels were given to items of other groups than these, under the same ids",
            place=record.place("group"),
            expected=f"{first.id} in {groups[first] or 'no group'}, as in the items",
            found=f"{count_text(len(others), 'item')} in another group: {first_ids(others)}",
            advice="give the items with the groups that they had when they were labelled",
        )


def require_drawn(draw: Draw, labels: LabelSet, population: Collection[ItemKey]) -> None:
    """A label of a person for an item that was not drawn is an error."""
    undrawn = [key for key in labels.labelled if key not in draw.items and key in population]
    if undrawn:
        raise InputError(
            "labels.not_drawn",
            "people labelled items that were not drawn",
            place=Place(labels.located.store.name),
            expected=f"labels for the {len(draw.items)} drawn items only",
            found=f"{count_text(len(undrawn), 'other item')}: {first_ids(undrawn)}",
            advice="leave them out, or draw more: a larger `goldgate sample --n` begins with the same items",
        )


def require_shown(labels: LabelSet, digests: Digests) -> None:
    """A label that was given to something else than what the item shows is an error."""
    others = [key for key, item in labels.items.items() if item.item_sha256 not in (None, digests.get(key))]
    others = [key for key in others if key in digests]
    if others:
        first = min(others)
        digest, records = digests[first], labels.located.located(first)
        record = next(each for each in records if each.value.get(ITEM_SHA256) not in (None, digest))
        raise InputError(
            "labels.other_item",
            "labels were given to other items than these, under the same ids",
            place=record.place(ITEM_SHA256),
            expected=f"{digest}: what {first.id} shows now",
            found=f"{count_text(len(others), 'item')} that showed something else: {first_ids(others)}",
            advice="these items need labels of their own: goldgate label for people, goldgate judge for a judge",
        )


Sampling = Literal["drawn", "complete", "trusted"]


def find_sampling(
    labels: LabelSet, draw: Draw | None, population: Collection[ItemKey], setting: str, section: str
) -> Sampling:
    """How the labelled items were chosen; an InputError where that is not known.

    `setting` is `sampling` in a section of the protocol.
    """
    if draw is not None:
        return "drawn"
    labelled = sum(key in population for key in labels.labelled)
    if labelled in (0, len(population)):
        return "complete"
    if setting == "trusted":
        return "trusted"
    raise InputError(
        "labels.not_a_draw",
        "people labelled some of the items, and nothing says that these are a random sample",
        place=Place(labels.located.store.name),
        expected="--draw FILE: what `goldgate sample` drew",
        found=f"labels for {labelled} of {len(population)} items",
        advice=f"add --draw FILE; if they are a random sample that something else drew, put {section}: "
        "{sampling: trusted} in the protocol, which the report says",
    )


class LabelDraws(TypedDict):
    """Labels of people that were not given under this draw, and whether the judge does as well on later ones.

    `compared` items have labels of people and judge, who agree on `agreed` of them: `first` are items of the smallest
    draw that labels name, `later` those that only a larger one has.
    """

    sizes: list[int]  # of the draws that labels name
    other_labels: int  # labels that name another size than the draw's, or none
    first_agreed: int
    first_compared: int
    later_agreed: int
    later_compared: int


def find_label_draws(
    labels: LabelSet, draw: Draw | None, items: int, agreed: Mapping[ItemKey, bool]
) -> LabelDraws | None:
    """The labels of other draws; None where there are none. `agreed`: the items that have both labels.

    Without a draw, labels may name none, or one of all `items`.
    """
    usual: set[int | None] = {items, None} if draw is None else {draw.header["n"]}
    if {*labels.sizes} <= usual:
        return None
    sizes = sorted(size for size in labels.sizes if size is not None)
    smallest = min(sizes, default=0)
    first = [is_agreed for key, is_agreed in agreed.items() if labels.items[key].drawn == smallest]
    later = [is_agreed for key, is_agreed in agreed.items() if (labels.items[key].drawn or 0) > smallest]
    return {
        "sizes": sizes,
        "other_labels": labels.sizes.total() - sum(labels.sizes[size] for size in usual),
        "first_agreed": sum(first),
        "first_compared": len(first),
        "later_agreed": sum(later),
        "later_compared": len(later),
    }


def sampling_remarks(
    labels: LabelSet, draw: Draw | None, sampling: Sampling, draws: LabelDraws | None
) -> Iterator[RemarkValue]:
    """What stands out in how items were chosen and shown."""
    if sampling == "trusted":
        yield remark(
            "trusted_sampling",
            "the labelled items were not drawn by goldgate sample: who chose them may have chosen the result",
        )
    number = 1 if draw is None else draw.header["draw"]
    if number > 1:
        yield remark("later_draw", f"this is draw {number} from these items: what did the others give?", draw=number)
    if draws is not None:
        yield _other_sizes(draws, None if draw is None else draw.header["n"])
    if labels.undigested:
        people, judge = labels.undigested[HUMAN], labels.undigested[JUDGE]
        counts = [f"{count_text(n, 'label')} of {who}" for n, who in ((people, "people"), (judge, "judges")) if n]
        message = f"{' and '.join(counts)} without the digest of what was shown: an item may have changed since"
        yield remark("unknown_items", message, people=people, judges=judge)


def _other_sizes(draws: LabelDraws, n: int | None) -> RemarkValue:
    """`n`: the size of the draw; None without one."""
    names = [str(size) for size in draws["sizes"] if size != n]
    sizes = first_names(names) or "no size"
    labels = count_text(draws["other_labels"], "label")
    if n is None:
        message = (
            f"{labels} of people given under a draw (size: {sizes}), and no --draw says what was drawn: items may have "
            "been left out when their labels were known"
        )
    else:
        message = (
            f"{labels} of people not given under this draw of {n} items (named: {sizes}): labelling was stopped, "
            "or the draw made larger, when the result could be known"
        )
    numbers = {name: value for name, value in draws.items() if isinstance(value, int)}
    if draws["first_compared"] and draws["later_compared"]:
        message += (
            f"; judge and people agree on {draws['first_agreed']}/{draws['first_compared']} items of the smallest "
            f"draw, and on {draws['later_agreed']}/{draws['later_compared']} later ones"
        )
    return remark("other_draw_size", message, **numbers)


def people_remarks(labels: LabelSet, items: Collection[ItemLabels], noun: str) -> Iterator[RemarkValue]:
    """What stands out in who labelled; `items` have the labels of everything that is judged, each of it a `noun`."""
    if labels.judge_seen:
        changed = count_text(labels.judge_seen, "label")
        message = f"{changed} changed by people after they had seen the judge's"
        yield remark("judge_seen", message, labels=labels.judge_seen)
    judges = {*map(fold_name, labels.judges)}
    both = sorted(name for name in labels.people if fold_name(name) in judges)
    if both:
        yield remark("same_name", f"{first_names(both)}: labels as a person and as a judge", names=len(both))
    if all(item.human is None for item in items):
        return
    folded = Counter(map(fold_name, labels.people))
    alike = sorted(name for name in labels.people if folded[fold_name(name)] > 1)
    if alike:
        yield remark("alike_names", f"{first_names([*map(repr, alike)])}: are they one person?", names=len(alike))
    overruled = sum(item.human is not None and UNSURE in item.people.values() for item in items)
    if overruled:
        message = f"{count_text(overruled, noun)} that one person was unsure of, counted with the label of another"
        yield remark("unsure_overruled", message, items=overruled)
    advice = f"have a second person label a fifth of the {noun}s, to see whether people agree"
    if len(labels.people) == 1:
        yield remark("one_person", f"one person gave every label: {advice}", people=1)
    elif all(len(item.people) < 2 for item in items):
        yield remark("labelled_once", f"no {noun} has labels of two people: {advice}", people=len(labels.people))


def judge_remarks(labels: LabelSet, draw: Draw | None, missing: int, noun: str) -> Iterator[RemarkValue]:
    """What stands out in the labels of judges; they gave no label to as many as are `missing`, each of it a `noun`."""
    if missing:
        message = f"{count_text(missing, noun)} without a label of the judge, counted as one half"
        if labels.unread:
            unread = count_text(labels.unread, "label")
            message += f": {unread} neither from 0 to 1 nor a word of the protocol, such as {labels.unread_example}"
        yield remark("no_judge_label", message, items=missing)
    if labels.judges and draw is not None and draw.header["labels_sha256"] and not judge_is_older(labels, draw):
        message = "the draw names a file of the judge's labels, and "
        is_named = labels.older == {draw.header["labels_sha256"]}
        message += "not all labels of judges here are from it" if is_named else "not all labels of people name it"
        yield remark("other_judge_labels", message)


def judge_is_older(labels: LabelSet, draw: Draw | None) -> bool:
    """Whether all labels of judges are from the file that the draw names, and that all labels of people name too.

    The same items can be drawn again with another file of labels: that people labelled later is in their labels.
    """
    digest = None if draw is None else draw.header["labels_sha256"]
    files = {file["sha256"] for file in labels.digests() if file["judges"].keys() - labels.left_out}
    return files == {digest} == labels.older


def people_setting(labels: LabelSet, named: Collection[str]) -> str:
    """Who the people are, for the signature: those that the protocol names, or names and counts by file."""
    if named:
        return f"only {', '.join(sorted(named))}"
    by_file = [", ".join(f"{name} {count}" for name, count in file["people"].items()) for file in labels.digests()]
    return "; ".join(sorted(filter(None, by_file))) or "none"


def selective_people(items: Mapping[ItemKey, ItemLabels]) -> Iterator[Finding]:
    """A finding for each person who labelled nothing but items that other people called bad, where not all are."""
    bad, other = Counter[str](), Counter[str]()
    for item in items.values():
        numbers = {name: label for name, label in item.people.items() if isinstance(label, Fraction)}
        for name in numbers if len(numbers) > 1 else ():
            others = [label for each, label in numbers.items() if each != name]
            (bad if 2 * sum(others) < len(others) else other)[name] += 1
        other.update([name for name in numbers if len(numbers) == 1])
    for name, count in sorted(bad.items()) if other else ():
        if not other[name]:
            message = f"{name} labelled {count_text(count, 'item')}, all of which other people called bad"
            yield Finding("only_bad_items", "warning", "labels", None, "", message, name)


def fold_name(name: str) -> str:
    """A name without what one does not see, or not at once: case, blanks, and characters without a width."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in folded if character.isalnum()) or folded


def first_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
