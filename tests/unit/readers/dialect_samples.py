"""A small record of every published format, made up here, with the offsets that its format has."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

# Sentences run into each other, as in the published file; the offsets in `sentences` are those of a text that has a
# line break there, and so are not those of `text`. "U.S" is three tokens.
WIKIEVENTS: Json = {
    "doc_id": "wiki_made_up_1",
    "tokens": "The rebels bombed a U . S . convoy near Tarn . Two drivers died .".split(),
    "text": "The rebels bombed a U.S. convoy near Tarn.Two drivers died.",
    "sentences": [
        [[["The", 0, 3], ["rebels", 4, 10]], "The rebels bombed a U.S. convoy near Tarn."],
        [[["Two", 46, 49], ["drivers", 50, 57]], "Two drivers died."],
    ],
    "entity_mentions": [
        {"id": "w1-T1", "sent_idx": 0, "start": 0, "end": 2, "entity_type": "ORG", "text": "The rebels"},
        {"id": "w1-T2", "sent_idx": 0, "start": 4, "end": 7, "entity_type": "GPE", "text": "U.S"},
        {"id": "w1-T3", "sent_idx": 0, "start": 8, "end": 9, "entity_type": "VEH", "text": "convoy"},
        {"id": "w1-T4", "sent_idx": 0, "start": 10, "end": 11, "entity_type": "LOC", "text": "Tarn"},
        {"id": "w1-T5", "sent_idx": 1, "start": 12, "end": 14, "entity_type": "PER", "text": "Two drivers"},
    ],
    "relation_mentions": [],
    "event_mentions": [
        {
            "id": "w1-E1",
            "event_type": "Conflict.Attack.DetonateExplode",
            "trigger": {"start": 2, "end": 3, "text": "bombed", "sent_idx": 0},
            "arguments": [
                {"entity_id": "w1-T1", "role": "Attacker", "text": "The rebels"},
                {"entity_id": "w1-T2", "role": "Target", "text": "U.S"},
            ],
        },
        {
            "id": "w1-E2",
            "event_type": "Life.Die.Unspecified",
            "trigger": {"start": 14, "end": 15, "text": "died", "sent_idx": 1},
            "arguments": [{"entity_id": "w1-T5", "role": "Victim", "text": "Two drivers"}],
        },
    ],
}
WIKIEVENTS_OWN: Json = {
    "id": "wiki_made_up_1",
    "text": WIKIEVENTS["text"],
    "tokens": WIKIEVENTS["tokens"],
    "events": [
        {
            "event_type": "Conflict.Attack.DetonateExplode",
            "trigger": "bombed",
            "start": 11,
            "end": 17,
            "token_start": 2,
            "token_end": 3,
            "arguments": [
                {"role": "Attacker", "argument": "The rebels", "start": 0, "end": 10, "token_start": 0, "token_end": 2}
                | {"entity": "w1-T1"},
                {"role": "Target", "argument": "U.S", "start": 20, "end": 23, "token_start": 4, "token_end": 7}
                | {"entity": "w1-T2"},
            ],
        },
        {
            "event_type": "Life.Die.Unspecified",
            "trigger": "died",
            "start": 54,
            "end": 58,
            "token_start": 14,
            "token_end": 15,
            "arguments": [
                {"role": "Victim", "argument": "Two drivers", "start": 42, "end": 53, "token_start": 12}
                | {"token_end": 14, "entity": "w1-T5"},
            ],
        },
    ],
}

# Spans count through all sentences, and their ends are inclusive.
RAMS: Json = {
    "rel_triggers": [],
    "gold_rel_links": [],
    "doc_key": "nw_RC0made0up",
    "ent_spans": [
        [8, 9, [["evt089arg02victim", 1.0]]],
        [12, 12, [["evt089arg03place", 1.0]]],
    ],
    "language_id": "eng",
    "source_url": "https://news.example/a",
    "evt_triggers": [[10, 10, [["life.die.deathcausedbyviolentevents", 1.0]]]],
    "split": "test",
    "sentences": [
        ["It", "was", "a", "cold", "night", "."],
        ["There", ",", "two", "drivers", "died", "near", "Tarn", "."],
    ],
    "gold_evt_links": [
        [[10, 10], [8, 9], "evt089arg02victim"],
        [[10, 10], [12, 12], "evt089arg03place"],
    ],
}
RAMS_OWN: Json = {
    "id": "nw_RC0made0up",
    "group": "https://news.example/a",
    "text": "It was a cold night . There , two drivers died near Tarn .",
    "tokens": RAMS["sentences"][0] + RAMS["sentences"][1],
    "events": [
        {
            "event_type": "life.die.deathcausedbyviolentevents",
            "trigger": "died",
            "start": 42,
            "end": 46,
            "token_start": 10,
            "token_end": 11,
            "arguments": [
                {
                    "role": "victim",
                    "argument": "two drivers",
                    "start": 30,
                    "end": 41,
                    "token_start": 8,
                    "token_end": 10,
                },
                {"role": "place", "argument": "Tarn", "start": 52, "end": 56, "token_start": 12, "token_end": 13},
            ],
        }
    ],
}

# An event with two triggers, an entity with two mentions (not in the order of the text), an argument that is no
# entity, and a role that nothing fills.
MAVEN_ARG: Json = {
    "id": "made0up1",
    "title": "Battle of Tarn",
    "document": "The battle of Tarn began at dawn . Rebels took Tarn ; the fight lasted two days .",
    "events": [
        {
            "id": "EVENT_1",
            "type": "Hostile_encounter",
            "type_id": 7,
            "mention": [
                {"id": "m1", "trigger_word": "battle", "offset": [4, 10]},
                {"id": "m2", "trigger_word": "fight", "offset": [58, 63]},
            ],
            "argument": {
                "Location": [{"entity_id": "ENTITY_1"}],
                "Duration": [{"content": "two days", "offset": [71, 79]}],
                "Purpose": [],
            },
        }
    ],
    "negative_triggers": [],
    "entities": [
        {
            "id": "ENTITY_1",
            "type": "Location",
            "mention": [
                {"id": "e2", "mention": "Tarn", "offset": [47, 51]},
                {"id": "e1", "mention": "Tarn", "offset": [14, 18]},
            ],
        }
    ],
}
MAVEN_ARG_OWN: Json = {
    "id": "made0up1",
    "text": MAVEN_ARG["document"],
    "events": [
        {
            "event_type": "Hostile_encounter",
            "trigger": "battle",
            "start": 4,
            "end": 10,
            "mentions": [{"text": "battle", "start": 4, "end": 10}, {"text": "fight", "start": 58, "end": 63}],
            "arguments": [
                {
                    "role": "Location",
                    "argument": "Tarn",
                    "start": 14,
                    "end": 18,
                    "mentions": [{"text": "Tarn", "start": 14, "end": 18}, {"text": "Tarn", "start": 47, "end": 51}],
                    "entity": "ENTITY_1",
                },
                {"role": "Duration", "argument": "two days", "start": 71, "end": 79},
            ],
        }
    ],
}

# Triggers count from the beginning of their sentence.
MAVEN: Json = {
    "id": "made0up2",
    "title": "Battle of Tarn",
    "content": [
        {"sentence": "Rebels took Tarn.", "tokens": ["Rebels", "took", "Tarn", "."]},
        {"sentence": "They took off again.", "tokens": ["They", "took", "off", "again", "."]},
    ],
    "events": [
        {
            "id": "e1",
            "type": "Departing",
            "type_id": 1,
            "mention": [{"id": "m1", "trigger_word": "took off", "sent_id": 1, "offset": [1, 3]}],
        }
    ],
    "negative_triggers": [{"id": "n1", "trigger_word": "Tarn", "sent_id": 0, "offset": [2, 3]}],
}
MAVEN_OWN: Json = {
    "id": "made0up2",
    "text": "Rebels took Tarn . They took off again .",
    "tokens": ["Rebels", "took", "Tarn", ".", "They", "took", "off", "again", "."],
    "events": [
        {
            "event_type": "Departing",
            "trigger": "took off",
            "start": 24,
            "end": 32,
            "token_start": 5,
            "token_end": 7,
            "arguments": [],
        }
    ],
}

ONEIE: Json = {
    "doc_id": "CNN_made_up",
    "sent_id": "CNN_made_up-3",
    "entity_mentions": [
        {"id": "c-E1", "text": "O'Neil", "entity_type": "PER", "mention_type": "NAM", "start": 0, "end": 3},
    ],
    "relation_mentions": [],
    "event_mentions": [
        {
            "id": "c-EV1",
            "event_type": "Life:Die",
            "trigger": {"text": "died", "start": 3, "end": 4},
            "arguments": [{"entity_id": "c-E1", "text": "O'Neil", "role": "Victim"}],
        }
    ],
    "tokens": ["O", "'", "Neil", "died", "."],
    "pieces": ["o", "'", "neil", "died", "."],
    "token_lens": [1, 1, 1, 1, 1],
    "sentence": "O'Neil died.",
}
ONEIE_OWN: Json = {
    "id": "CNN_made_up-3",
    "group": "CNN_made_up",
    "text": "O'Neil died.",
    "tokens": ONEIE["tokens"],
    "events": [
        {
            "event_type": "Life:Die",
            "trigger": "died",
            "start": 7,
            "end": 11,
            "token_start": 3,
            "token_end": 4,
            "arguments": [
                {"role": "Victim", "argument": "O'Neil", "start": 0, "end": 6, "token_start": 0, "token_end": 3}
                | {"entity": "c-E1"}
            ],
        }
    ],
}

_DOCEE_ARGUMENTS = [
    {"start": 0, "end": 14, "type": "Date", "text": "Friday evening"},
    {"start": 23, "end": 27, "type": "Location", "text": "Tarn"},
]
DOCEE: list[Any] = ["Flood in Tarn", "Friday evening flooded Tarn.", "Floods", json.dumps(_DOCEE_ARGUMENTS)]
DOCEE_OWN: Json = {
    "text": "Friday evening flooded Tarn.",
    "events": [
        {
            "event_type": "Floods",
            "arguments": [
                {"role": "Date", "argument": "Friday evening", "start": 0, "end": 14},
                {"role": "Location", "argument": "Tarn", "start": 23, "end": 27},
            ],
        }
    ],
}

DUEE: Json = {
    "text": "雀巢裁员4000人：时代抛弃你时，连招呼都不会打！",
    "id": "409389c96efe78d6af1c86e0450fd2d7",
    "event_list": [
        {
            "event_type": "组织关系-裁员",
            "trigger": "裁员",
            "trigger_start_index": 2,
            "arguments": [
                {"argument_start_index": 0, "role": "裁员方", "argument": "雀巢", "alias": []},
                {"argument_start_index": 4, "role": "裁员人数", "argument": "4000人", "alias": []},
            ],
            "class": "组织关系",
        }
    ],
}
DUEE_OWN: Json = {
    "text": DUEE["text"],
    "id": DUEE["id"],
    "events": [
        {
            "event_type": "组织关系-裁员",
            "trigger": "裁员",
            "start": 2,
            "end": 4,
            "arguments": [
                {"role": "裁员方", "argument": "雀巢", "alias": [], "start": 0, "end": 2},
                {"role": "裁员人数", "argument": "4000人", "alias": [], "start": 4, "end": 9},
            ],
            "class": "组织关系",
        }
    ],
}

DUEE_FIN: Json = {
    "text": "甲公司于今日将股份质押给乙银行。",
    "title": "甲公司股份质押公告",
    "id": "fin1",
    "event_list": [
        {
            "trigger": "质押",
            "event_type": "质押",
            "arguments": [{"role": "质押方", "argument": "甲公司"}, {"role": "质权方", "argument": "乙银行"}],
        }
    ],
}
DUEE_FIN_OWN: Json = {
    "text": "甲公司股份质押公告\n甲公司于今日将股份质押给乙银行。",
    "id": "fin1",
    "events": DUEE_FIN["event_list"],
}

# A text in two sentences, a role that nothing fills, and one with several values, as later files have it.
CHFINANN: list[Any] = [
    "chf1",
    {
        "sentences": ["甲公司股份质押公告", "甲公司将10股质押给乙银行和丙银行。"],
        "ann_valid_mspans": ["甲公司", "10股", "乙银行", "丙银行"],
        "ann_valid_dranges": [[0, 0, 3], [1, 0, 3], [1, 4, 7], [1, 10, 13], [1, 14, 17]],
        "ann_mspan2dranges": {
            "甲公司": [[1, 0, 3], [0, 0, 3]],
            "10股": [[1, 4, 7]],
            "乙银行": [[1, 10, 13]],
            "丙银行": [[1, 14, 17]],
        },
        "ann_mspan2guess_field": {
            "甲公司": "Pledger",
            "10股": "PledgedShares",
            "乙银行": "Pledgee",
            "丙银行": "Pledgee",
        },
        "recguid_eventname_eventdict_list": [
            [
                0,
                "EquityPledge",
                {"Pledger": "甲公司", "PledgedShares": "10股", "Pledgee": ["乙银行", "丙银行"], "EndDate": None},
            ]
        ],
    },
]
CHFINANN_OWN: Json = {
    "id": "chf1",
    "text": "甲公司股份质押公告\n甲公司将10股质押给乙银行和丙银行。",
    "events": [
        {
            "event_type": "EquityPledge",
            "arguments": [
                {"role": "Pledger", "argument": "甲公司", "start": 0, "end": 3}
                | {"mentions": [{"text": "甲公司", "start": 0, "end": 3}, {"text": "甲公司", "start": 10, "end": 13}]},
                {"role": "PledgedShares", "argument": "10股", "start": 14, "end": 17},
                {"role": "Pledgee", "argument": "乙银行", "start": 20, "end": 23},
                {"role": "Pledgee", "argument": "丙银行", "start": 24, "end": 27},
            ],
        }
    ],
}

# RAMS's keys, with exclusive ends, and characters for tokens.
OEE_CFC: Json = {
    "split": "test",
    "doc_key": "doc-1",
    "sentences": [["甲", "方", "收", "购", "乙", "方", "\n"], ["股", "价", "上", "涨"]],
    "ent_spans": [[0, 2, "subject"], [4, 6, "object"], [7, 9, "subject"]],
    "evt_triggers": [[2, 4, ["generalEvents"]], [9, 11, ["generalEvents"]]],
    "gold_evt_links": [[[2, 4], [0, 2], "subject"], [[2, 4], [4, 6], "object"], [[9, 11], [7, 9], "subject"]],
}


def _at(name: str, text: str, start: int) -> Json:
    end = start + len(text)
    return {name: text, "start": start, "end": end, "token_start": start, "token_end": end}


OEE_CFC_OWN: Json = {
    "id": "doc-1",
    "text": "甲方收购乙方\n股价上涨",
    "tokens": [*"甲方收购乙方\n股价上涨"],
    "events": [
        {
            "event_type": "generalEvents",
            **_at("trigger", "收购", 2),
            "arguments": [
                {"role": "subject", **_at("argument", "甲方", 0)},
                {"role": "object", **_at("argument", "乙方", 4)},
            ],
        },
        {
            "event_type": "generalEvents",
            **_at("trigger", "上涨", 9),
            "arguments": [{"role": "subject", **_at("argument", "股价", 7)}],
        },
    ],
}

BIO: Json = {"id": "s1", "tokens": ["Ann", "Lee", "met", "Bob"], "tags": ["B-PER", "I-PER", "O", "S-PER"]}
BIO_OWN: Json = {
    "id": "s1",
    "text": "Ann Lee met Bob",
    "tokens": ["Ann", "Lee", "met", "Bob"],
    "events": [
        {
            "event_type": "PER",
            "arguments": [
                {"role": "mention", "argument": "Ann Lee", "start": 0, "end": 7, "token_start": 0, "token_end": 2}
            ],
        },
        {
            "event_type": "PER",
            "arguments": [
                {"role": "mention", "argument": "Bob", "start": 12, "end": 15, "token_start": 3, "token_end": 4}
            ],
        },
    ],
}
TRIPLES: Json = {
    "id": "s1",
    "text": "Ann left Acme; Bob left Acme.",
    "triples": [["Ann", "left", "Acme"], {"head": "Bob", "relation": "left", "tail": "Acme"}],
}
TRIPLES_OWN: Json = {
    "id": "s1",
    "text": "Ann left Acme; Bob left Acme.",
    "events": [
        {
            "event_type": "left",
            "arguments": [
                {"role": "head", "argument": name, "start": start, "end": start + 3},
                {"role": "tail", "argument": "Acme"},  # it stands there twice
            ],
        }
        for name, start in (("Ann", 0), ("Bob", 15))
    ],
}

# Name → a record of the format, and the same in our form.
SAMPLES: dict[str, tuple[Any, Json]] = {
    "wikievents": (WIKIEVENTS, WIKIEVENTS_OWN),
    "rams": (RAMS, RAMS_OWN),
    "oee-cfc": (OEE_CFC, OEE_CFC_OWN),
    "maven-arg": (MAVEN_ARG, MAVEN_ARG_OWN),
    "maven": (MAVEN, MAVEN_OWN),
    "oneie": (ONEIE, ONEIE_OWN),
    "docee": (DOCEE, DOCEE_OWN),
    "chfinann": (CHFINANN, CHFINANN_OWN),
    "duee": (DUEE, DUEE_OWN),
    "duee-fin": (DUEE_FIN, DUEE_FIN_OWN),
    "bio": (BIO, BIO_OWN),
    "triples": (TRIPLES, TRIPLES_OWN),
}
