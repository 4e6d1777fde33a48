"""A training loop in miniature: what a policy learns when goldgate gives the rewards.

The policy is a choice among five habits of answering, with a weight for each. Every step it answers each document eight
times; a habit whose answers are better than the average of their group gets more weight. That is what GRPO does to a
language model. Run it with `python examples/rewards/loop.py`; the last lines say which habit has won.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from goldgate.rewards import event_reward

FOLDER = Path(__file__).parent.parent / "extraction"
STEPS, DOCUMENTS, GENERATIONS, RATE = 30, 8, 8, 0.5
Record = dict[str, Any]


def invented(record: Record) -> list[Any]:
    """All right, and one more argument that is not in the text."""
    events = json.loads(json.dumps(record["events"]))
    for event in events:
        event["arguments"].append({"role": event["arguments"][0]["role"], "argument": "somebody else"})
    return list(events)


HABITS: dict[str, Callable[[Record], str]] = {
    "answers in prose": lambda record: "There may be an event here. " + record["text"][:40],
    "says there is nothing": lambda record: "[]",
    "gives half": lambda record: json.dumps([{**e, "arguments": e["arguments"][:1]} for e in record["events"]]),
    "invents": lambda record: json.dumps(invented(record)),
    "gives all": lambda record: "```json\n" + json.dumps(record["events"], ensure_ascii=False) + "\n```",
}


def main() -> None:
    lines = (FOLDER / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if record["events"]]
    reward = event_reward(schema=FOLDER / "schema.json", metric="relaxed_f1")
    random.seed(1)
    weights = dict.fromkeys(HABITS, 0.0)
    for step in range(STEPS):
        batch = [record for record in random.sample(records, DOCUMENTS) for _ in range(GENERATIONS)]
        chosen = random.choices(list(HABITS), [math.exp(weight) for weight in weights.values()], k=len(batch))
        rewards = reward(
            prompts=[record["text"] for record in batch],
            completions=[[{"role": "assistant", "content": HABITS[h](r)}] for h, r in zip(chosen, batch, strict=True)],
            events=[record["events"] for record in batch],
            text=[record["text"] for record in batch],
        )
        learn(weights, chosen, [each or 0.0 for each in rewards])
        if step % 10 == 0 or step == STEPS - 1:
            print(f"step {step:2}  mean reward {sum(each or 0.0 for each in rewards) / len(rewards):.3f}")
    print(f"the policy now mostly {max(weights, key=weights.__getitem__)}")


def learn(weights: dict[str, float], chosen: list[str], rewards: list[float]) -> None:
    """More weight to what did better than its group, the answers to the same document."""
    for start in range(0, len(chosen), GENERATIONS):
        group = rewards[start : start + GENERATIONS]
        mean = sum(group) / len(group)
        spread = math.sqrt(sum((each - mean) ** 2 for each in group) / len(group)) or 1.0
        for habit, each in zip(chosen[start : start + GENERATIONS], group, strict=True):
            weights[habit] += RATE * (each - mean) / spread / len(chosen)


if __name__ == "__main__":
    main()
