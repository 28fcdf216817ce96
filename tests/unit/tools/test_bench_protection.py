"""What protected traffic of HDFS costs (tools/bench/protection.py), without an HDFS."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.protection import SIDES, Read, Round, middle, page
from common.process_usage import cpu_seconds


def rounds() -> list[Round]:
    """Three rounds; in one of them, another program had the machine."""
    quiet = {side: Read(2.0 * number, 1.0 * number, 0.5 * number) for number, side in enumerate(SIDES, 1)}
    busy = {side: Read(100.0, 1.0, 1.0) for side in SIDES}
    return [quiet, busy, quiet]


def test_a_busy_round_changes_no_number() -> None:
    """Each number is the median of its own kind."""
    assert middle(rounds(), "integrity") == Read(4.0, 2.0, 1.0)


def test_every_side_is_compared_with_traffic_that_is_not_protected() -> None:
    """By the CPU time of client and servers, which depends less on other programs than the clock does."""
    text = page(rounds())
    assert "| authentication | 2.0 s | 1.0 s | 0.5 s | 1.0 |" in text
    assert "| privacy with AES | 8.0 s | 4.0 s | 2.0 s | 4.0 |" in text


def test_the_time_of_a_process_grows_with_its_work() -> None:
    """And that of a child counts once it has ended, if that is asked."""
    own, before = cpu_seconds(os.getpid()), cpu_seconds(os.getpid(), children=True)
    while cpu_seconds(os.getpid()) <= own:
        sum(range(10_000))
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    with_child = cpu_seconds(os.getpid(), children=True)
    assert with_child - before >= 0.45
    assert with_child - cpu_seconds(os.getpid()) >= 0.45
