"""The line that says how far a probe is."""

from dataclasses import replace

import pytest

from kvfence.findings.progress import Budget, Progress
from kvfence.findings.recall import LengthVerdict
from kvfence.findings.spent import Spent
from kvfence.report.probe_progress import duration, progress_line

MIDST = Progress(
    scenario="concurrent",
    tokens=65_536,
    why="all at once",
    asked=14,
    under_way=8,
    foreseen=38,
    is_all=True,
    ends_by="",
    spent=Spent(requests=22, prompt_tokens=2_113_220, answer_tokens=1431, usd=0.5321),
    foreseen_tokens=5_100_000,
    foreseen_usd=1.2,
    budget=Budget(tokens=6_000_000, usd=2.0),
    answers=((LengthVerdict.LEAK, 1), (LengthVerdict.CLEAN, 13)),
    seconds=192.0,
    seconds_left=420.0,
)


def test_all_of_it_is_in_one_line():
    """What is tried, how far, what it has cost of what it may, what has come back, how long."""
    assert progress_line(MIDST, 202.0) == (
        "probe: concurrent: 8 at once, 65,536 tokens (all at once); 14 of about 38 requests done, 3 min 22 s gone, "
        "about 6 min 50 s left; 2,114,651 of about 5,100,000 tokens (at most 6,000,000), 0.53 of about 1.20 US dollars "
        "(at most 2.00); answers so far: leak 1, clean 13"
    )


def test_what_is_not_known_is_not_said():
    """No price, no budget, no time, no answer; a plan that is not seen to its end."""
    spent = replace(MIDST.spent, usd=None)
    changes = {"under_way": 1, "is_all": False, "spent": spent, "foreseen_usd": None, "seconds_left": None}
    line = progress_line(replace(MIDST, budget=Budget(), answers=(), **changes), 1.0)
    assert line == (
        "probe: concurrent: 65,536 tokens (all at once); 14 of more than 38 requests done, 1 s gone; "
        "2,114,651 of more than 5,100,000 tokens; nothing has come back yet"
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3599, "59 min 59 s"), (7500, "2 h 05 min")],
)
def test_a_time_is_as_one_reads_it(seconds, said):
    """To the second under an hour."""
    assert duration(seconds) == said
