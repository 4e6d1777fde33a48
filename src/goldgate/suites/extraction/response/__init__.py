"""Reading a raw response: where in it the answer is, what it says, and how it had to be mended.

`read` is the line: thoughts are cut out (`thoughts`), candidates are found (`locate`), one answer is
chosen (`choose`), each value having been decoded (`decode`) or repaired (`repair`, `quoted`) on the way.
"""

from goldgate.suites.extraction.response.parsed import LeftOut, Method, Parsed, Reason, RepairPlace, Status
from goldgate.suites.extraction.response.read import parse_response
from goldgate.suites.extraction.response.step import Step
from goldgate.suites.extraction.response.thoughts import DEFAULT_THOUGHT_TAGS, ThoughtState

__all__ = [
    "DEFAULT_THOUGHT_TAGS",
    "LeftOut",
    "Method",
    "Parsed",
    "Reason",
    "RepairPlace",
    "Status",
    "Step",
    "ThoughtState",
    "parse_response",
]
