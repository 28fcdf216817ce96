"""`sparkgen logs`, `history` and `ui` beside an application that runs, and after its end."""

from __future__ import annotations

import subprocess
import sys
from subprocess import PIPE
from typing import Any
from urllib.parse import urlsplit

from deployed import deploy, document, wait_until

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from tests.e2e.commands.looking import VERSION, sparkgen, status, words


def wanted_and_there(row: dict[str, Any]) -> bool:
    """Whether the driver and all executors run: of the driver, the kubelet may tell later."""
    return bool(row["state"] == "Running" and row["executors"] == {"running": 2, "pending": 0, "target": 2})


def test_a_run_from_its_begin_to_its_end(cluster: Cluster, restricted: str) -> None:
    """Followed before the driver begins; executors counted, read and missed; the UI; its history."""
    application = deploy(cluster, restricted, document("pi", VERSION, "hold.py", "2", "nothing", "45"))
    command = words(cluster, restricted, "logs", "pi", "-f")
    follows = subprocess.Popen(command, text=True, stdout=PIPE, stderr=PIPE)

    def running() -> bool:
        return wanted_and_there(status(cluster, restricted)["pi"])

    wait_until(running, 120, "the driver and 2 executors run", application.story)
    table = sparkgen(cluster, restricted, "status").stdout.splitlines()
    assert table[1].split()[:4] == ["pi", application.run, "Running", "2/2"]
    assert sparkgen(cluster, restricted, "logs", "pi", "-e", "1").returncode == 0
    shows = subprocess.Popen(
        words(cluster, restricted, "ui", "pi", "--port", "0"), text=True, stdout=PIPE, stderr=PIPE
    )
    assert shows.stdout is not None
    address = shows.stdout.readline().strip()
    wait_until(lambda: "Spark Jobs" in fetched(cluster, f"{address}/jobs/"), 90, "the UI answers")
    assert "the driver may start" in sparkgen(cluster, restricted, "logs", "pi", "--allocator").stdout

    def together() -> set[str]:
        lines = sparkgen(cluster, restricted, "logs", "pi", "--all", "--tail", "3").stdout.splitlines()
        return {line.partition("]")[0] for line in lines}

    everybody = {"[driver", "[allocator", "[executor 1", "[executor 2"}
    wait_until(lambda: together() == everybody, 60, "all have written", application.story)
    missed = sparkgen(cluster, restricted, "logs", "pi", "-e", "7")
    assert (missed.returncode, "-exec-7: look for that name" in missed.stderr) == (2, True), missed.stderr
    out, err = follows.communicate(timeout=120)
    assert follows.returncode == 0, err
    assert "total: 1" in out
    assert application.wait() == "Complete"
    history = sparkgen(cluster, restricted, "history", "pi").stdout.splitlines()
    assert history[1].split()[:2] == [application.run, "Succeeded"]
    assert shows.wait(timeout=30) == 0
    assert "has ended, and so has its UI" in shows.communicate()[1]
    over = sparkgen(cluster, restricted, "ui", "pi")
    assert (over.returncode, "its UI has ended" in over.stderr) == (2, True)


def fetched(cluster: Cluster, address: str) -> str:
    """A page, asked for from where the command runs; "" when there is none. Python finds no *.localhost."""
    prefix = network.enter(NAME) if cluster.own else []
    program = (
        "import sys, urllib.request as u; asked = u.Request(sys.argv[1], headers={'Host': sys.argv[2]}); "
        "print(u.urlopen(asked, timeout=30).read().decode())"
    )
    there = urlsplit(address)
    near = there._replace(netloc=f"127.0.0.1:{there.port}").geturl()
    done = subprocess.run(
        [*prefix, sys.executable, "-c", program, near, there.netloc],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout
