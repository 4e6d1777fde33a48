"""Seeded extraction data: about 900 characters of text, 2 events, 10 arguments, a thought, a fenced answer.

A model that errs is `erring.py`'s. Of the clean one, 5 % of the answers have a defect: trailing comma, truncation,
single quotes, prose only, an argument that is not in the text, or a span one word too long.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import erring
import orjson

TYPES = {
    "质押": ("质押方", "质权方", "质押股数", "质押日期", "占总股本比例"),
    "解除质押": ("股东", "质权人", "解除股数", "解除日期", "剩余比例"),
    "股份回购": ("回购方", "回购股数", "回购价格", "回购金额", "完成日期"),
    "Acquisition": ("Acquirer", "Target", "Price", "Stake", "Closing-Date"),
    "Appointment": ("Company", "Person", "Position", "Start-Date", "Predecessor"),
    "Lawsuit": ("Plaintiff", "Defendant", "Court", "Damages", "Filing-Date"),
}
CHINESE = ("质押", "解除质押", "股份回购")
ENGLISH = ("Acquisition", "Appointment", "Lawsuit")
HAN = "华远恒泰新能源科技中南海润德信达金瑞丰盛隆安平宇航博通盈嘉和众诚立群"
SYLLABLES = "nor vel tar men ska dru lin pos hal ver qua ber tol ran mis ged fal wen".split()
DEFECTS = ("trailing_comma", "truncated", "single_quotes", "prose", "hallucinated", "boundary")


def main(directory: Path, samples: int, language: str = "both", seed: int = 20, *, errs: bool = False) -> None:
    """Write gold, predictions (in order and shuffled), the event schema and the two protocols of the benchmark."""
    rng = random.Random(seed)
    directory.mkdir(parents=True, exist_ok=True)
    answers: list[bytes] = []
    with open(directory / "gold.jsonl", "wb") as gold:
        for number in range(samples):
            chinese = language == "zh" or (language == "both" and number % 2 == 0)
            record = _document(rng, number, chinese)
            if errs and rng.random() < erring.OFFSETS:
                erring.add_offsets(record["events"], record["text"])
            gold.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            response = erring.response(rng, record, TYPES, chinese) if errs else _response(rng, record)
            answer = {"id": record["id"], "response": response}
            answers.append(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE))
    (directory / "predictions.jsonl").write_bytes(b"".join(answers))
    rng.shuffle(answers)
    (directory / "shuffled.jsonl").write_bytes(b"".join(answers))
    types = {"zh": CHINESE, "en": ENGLISH}.get(language, tuple(TYPES))
    roles = {"event_types": {name: {"roles": list(TYPES[name])} for name in types}}
    (directory / "schema.json").write_bytes(orjson.dumps(roles))
    for mode in ("include_or_char_overlap", "span_iou"):
        (directory / f"{mode}.yaml").write_text(
            f'protocol: {{version: "1.0", name: bench}}\nmetrics:\n  relaxed: {{match_mode: {mode}}}\n'
            "  cot: {enabled: true}\n"
        )


def _document(rng: random.Random, number: int, chinese: bool) -> dict[str, Any]:
    events, sentences = [], []
    for event_type in rng.sample(CHINESE if chinese else ENGLISH, 2):
        arguments = [{"role": role, "argument": _value(rng, role, chinese)} for role in TYPES[event_type]]
        events.append({"event_type": event_type, "trigger": event_type, "arguments": arguments})
        join = "，" if chinese else ", "
        said = join.join(f"{a['role']}{'为' if chinese else ' was '}{a['argument']}" for a in arguments)
        sentences.append(f"关于{event_type}事项：{said}。" if chinese else f"In the {event_type} case, {said}.")
    filler = _filler(rng, chinese)
    text = "".join(sentences)
    while len(text) < 900:
        text += next(filler)
    return {"id": f"doc-{number:07d}", "text": text, "events": events}


def _value(rng: random.Random, role: str, chinese: bool) -> str:
    if "日期" in role or "Date" in role:
        year, month, day = rng.randint(2015, 2026), rng.randint(1, 12), rng.randint(1, 28)
        return f"{year}年{month}月{day}日" if chinese else f"{day}/{month}/{year}"
    if any(word in role for word in ("股数", "金额", "价格", "Price", "Damages")):
        return f"{rng.randint(1, 99_999):,}万股" if chinese else f"${rng.randint(1, 99_999):,} million"
    if "比例" in role or role == "Stake":
        return f"{rng.randint(1, 9999) / 100}%"
    if chinese:
        return "".join(rng.choices(HAN, k=rng.randint(4, 8))) + rng.choice(("股份有限公司", "集团", "证券", "先生"))
    return " ".join(_word(rng).title() for _ in range(rng.randint(2, 3)))


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=rng.randint(2, 3)))


def _filler(rng: random.Random, chinese: bool) -> Iterator[str]:
    while True:
        if chinese:
            yield "本公司及董事会全体成员保证公告内容真实、准确、完整（" + "".join(rng.choices(HAN, k=12)) + "）。"
        else:
            yield " The " + " ".join(_word(rng) for _ in range(9)) + ", officials said."


def _response(rng: random.Random, record: dict[str, Any]) -> str:
    events = orjson.loads(orjson.dumps(record["events"]))
    defect = rng.choice(DEFECTS) if rng.random() < 0.05 else None
    argument = rng.choice(rng.choice(events)["arguments"])
    if defect == "hallucinated":
        argument["argument"] = "".join(rng.choices(HAN, k=9)) + "！"
    elif defect == "boundary":
        argument["argument"] += "。"
    lines = [
        f"{event['event_type']}\n" + "\n".join(f"{a['role']}: {a['argument']}" for a in event["arguments"])
        for event in events
    ]
    thought = "<thought>\n" + "\n".join(lines) + "\n</thought>\n"
    answer = orjson.dumps(events, option=orjson.OPT_INDENT_2).decode()  # as models write it
    if defect == "prose":
        return thought + "There is nothing to extract."
    if defect == "trailing_comma":
        answer = answer[:-1] + ",]"
    elif defect == "single_quotes":
        answer = answer.replace('"', "'")
    elif defect == "truncated":
        return thought + "```json\n" + answer[: len(answer) * 2 // 3]
    return f"{thought}```json\n{answer}\n```"
