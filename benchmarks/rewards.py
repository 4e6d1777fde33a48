"""How much time of a processor the rewards of a batch take, for answers that err and for answers that do not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from goldgate.rewards import event_reward

EXAMPLES = Path(__file__).parents[1] / "examples" / "extraction"
GENERATIONS = 8
ROUNDS = 15


def main() -> None:
    gold = {record["id"]: record for record in records("gold.jsonl")}
    reward = event_reward(schema=EXAMPLES / "schema.json", metric="relaxed_f1")
    print(f"{'answers':<22}{'completions':>12}{'characters':>12}{'ms each':>10}")
    for model, about in (("model-a.jsonl", "mostly well-formed"), ("model-b.jsonl", "many of them broken")):
        answers = [each for each in records(model) if "response" in each for _ in range(GENERATIONS)]
        batch = {
            "completions": [[{"role": "assistant", "content": each["response"]}] for each in answers],
            "events": [gold[each["id"]]["events"] for each in answers],
            "text": [gold[each["id"]].get("text") for each in answers],
        }
        best = min(timed(reward, batch) for _ in range(ROUNDS))
        characters = sum(len(each["response"]) for each in answers) / len(answers)
        print(f"{about:<22}{len(answers):>12}{characters:>12.0f}{best / len(answers) * 1000:>10.3f}")


def timed(reward: Any, batch: dict[str, Any]) -> float:
    began = time.process_time()
    reward(**batch)
    return time.process_time() - began


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
