"""The commands as a person meets them: what they print, their exit codes, and their messages."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import pytest

from sparkgen.live.tunnel import LOCALHOST, has
from sparkgen.usecases.forwarding import Forwarding
from tests import reading
from tests.unit.cli.conftest import Cli
from tests.unit.connection.conftest import Server
from tests.unit.live.conftest import KINDS, ROOT, Sparkgen, fill, refuse
from tests.unit.live.objects import allocator_pod, driver, ends, executor, job, runs, session

POD = "pi-1a2b3c4d-x7k2p"


def test_status_is_a_table(server: Server, sparkgen: Sparkgen) -> None:
    """Data on standard output, nothing on standard error."""
    fill(server, job(ended="Failed", reason="DeadlineExceeded"), driver(job(), state=ends(143)))
    result = sparkgen("status")
    assert (result.code, result.err) == (0, "")
    head, line = result.out.splitlines()
    assert head.split() == ["NAME", "RUN", "STATE", "EXECUTORS", "SINCE", "REASON"]
    assert line.startswith("pi     pi-1a2b3c4d   Failed   -           ")
    assert line.endswith(
        "raise spec.activeDeadlineSeconds, or find out what takes so long: sparkgen logs pi -n analytics"
    )


def test_status_for_machines(server: Server, sparkgen: Sparkgen) -> None:
    """JSON and YAML say the same; name is for kubectl."""
    fill(server, job())
    body = json.loads(sparkgen("status", "-o", "json").out)
    assert [one["run"] for one in body["runs"]] == ["pi-1a2b3c4d"]
    assert reading.load(sparkgen("status", "-o", "yaml").out) == body
    assert sparkgen("status", "-o", "name", "pi").out == "job.batch/pi-1a2b3c4d\n"


def test_nothing_there_is_no_error_and_a_wrong_name_is_one(server: Server, sparkgen: Sparkgen) -> None:
    """With what to do next."""
    result = sparkgen("status")
    assert (result.code, result.out) == (0, "")
    assert (
        "no sparkgen applications in analytics; to look elsewhere, add --namespace or --context" in result.err
    )
    assert json.loads(sparkgen("status", "-o", "json").out) == {"runs": []}
    fill(server, job())
    for command in ("status", "history", "logs", "ui", "connect"):
        result = sparkgen(command, "pie")
        assert (result.code, result.out) == (2, "")
        assert result.err == "sparkgen: there is no application pie in analytics: did you mean pi?\n"


def test_rights_that_lack_are_said(server: Server, sparkgen: Sparkgen) -> None:
    """What can be done without is a note; Jobs are not."""
    fill(server, job())
    refuse(server, KINDS["CronJob"])
    refuse(server, KINDS["Event"])
    result = sparkgen("status")
    assert result.code == 0
    assert "pi-1a2b3c4d" in result.out
    assert result.err.startswith("sparkgen: cannot list CronJobs in analytics: x is forbidden")
    assert result.err.count("\n") == 1
    refuse(server, KINDS["Job"])
    result = sparkgen("status")
    assert (result.code, result.out) == (2, "")
    assert "cannot list Jobs in analytics" in result.err
    assert "Ask for this permission, or choose another --context or --namespace" in result.err


def test_no_cluster_and_wrong_contexts_are_words(cli: Cli, sparkgen: Sparkgen, kubeconfig: Any) -> None:
    """No traceback; the address or the names there are."""
    nobody = str(kubeconfig("http://127.0.0.1:9", {"dev": "analytics"}, current="dev", name="nobody"))
    for command in (["status"], ["history", "pi"], ["logs", "pi"], ["ui", "pi"], ["connect", "pi"]):
        result = cli(*command, "--kubeconfig", nobody)
        assert result.code == 2
        assert "http://127.0.0.1:9 does not answer ([Errno 111] Connection refused)" in result.err
        assert sparkgen(*command, "--context", "prod").err.startswith("sparkgen: there is no context prod")


def test_watching_prints_what_changes(
    server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each run that is another than before; Ctrl-C is 130, and says so."""
    fill(server, job(), job("etl-1", "etl"))
    steps = iter([(), (job(), driver(job(), state=runs()), job("etl-1", "etl"))])

    def sleep(seconds: float) -> None:
        objects = next(steps, None)
        if objects is None:
            raise KeyboardInterrupt
        if objects:
            fill(server, *objects)

    monkeypatch.setattr("time.sleep", sleep)
    result = sparkgen("status", "--watch")
    assert (result.code, result.err) == (130, "sparkgen: interrupted\n")
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines] == ["NAME", "etl", "pi", "pi"]
    assert lines[3].split()[2] == "Running"
    assert sparkgen("status", "-w", "-o", "json").code == 2


def test_history_lists_all_runs(server: Server, sparkgen: Sparkgen) -> None:
    """The latest first, with its end."""
    fill(
        server,
        job("pi-00000002", ended="Complete"),
        job("pi-00000001", born="2026-11-21T01:00:00Z", ended="Complete"),
    )
    result = sparkgen("history", "pi")
    assert (result.code, result.err) == (0, "")
    assert [line.split()[:2] for line in result.out.splitlines()] == [
        ["RUN", "STATE"],
        ["pi-00000002", "Succeeded"],
        ["pi-00000001", "Succeeded"],
    ]


def test_history_lists_several_applications(server: Server, sparkgen: Sparkgen) -> None:
    """Those that are named, or all, each row with its name; an event log is of one run."""
    fill(server, job(), job("etl-1", "etl"), job("web-1", "web"))
    rows = [line.split()[:2] for line in sparkgen("history", "pi", "etl").out.splitlines()]
    assert rows == [["NAME", "RUN"], ["etl", "etl-1"], ["pi", "pi-1a2b3c4d"]]
    assert len(sparkgen("history").out.splitlines()) == 4
    result = sparkgen("history", "pi", "etl", "--event-log", "log.zip")
    assert (result.code, result.out) == (2, "")
    assert result.err == "sparkgen: --event-log writes the log of one run; name one application or run\n"
    fill(server)
    assert sparkgen("history").err.startswith("no sparkgen applications in analytics; to look elsewhere")


def test_a_next_step_names_an_earlier_run_once(server: Server, sparkgen: Sparkgen) -> None:
    """Also while it is being killed."""
    killed = job("pi-00000001", born="2026-11-21T01:00:00Z", annotations={"sparkgen.dev/killed": "now"})
    failed = job("pi-00000000", born="2026-11-20T01:00:00Z", ended="Failed")
    fill(server, job(), killed, driver(killed, state=runs()), failed, driver(failed, state=ends(3)))
    lines = sparkgen("history", "pi").out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["pi-00000001", "pi-00000000"]
    for line in lines:
        assert line.count("--run") == 1
        assert line.endswith(
            f"sparkgen {line.rpartition('sparkgen ')[2].split()[0]} pi --run {line.split()[0]} -n analytics"
        )


def test_status_of_all_namespaces(server: Server, sparkgen: Sparkgen) -> None:
    """A column for the namespace; not with a namespace of its own."""
    fill(server)
    for kind, path in KINDS.items():
        own = [job()] if kind == "Job" else []
        server.answers[f"GET {path.replace('/namespaces/analytics', '')}"] = (200, {"items": own})
    server.answers[f"GET {KINDS['Job']}"] = (403, {"kind": "Status", "message": "x is forbidden"})
    head, line = sparkgen("status", "-A").out.splitlines()
    assert (head.split()[:3], line.split()[:3]) == (
        ["NAMESPACE", "NAME", "RUN"],
        ["analytics", "pi", "pi-1a2b3c4d"],
    )
    result = sparkgen("status", "-A", "-n", "etl")
    assert (result.code, result.out) == (2, "")
    assert "--all-namespaces and --namespace cannot be combined" in result.err


def played(server: Server, pod: str, text: str) -> None:
    """Let a pod's log be this. The server answers with JSON, so that the text comes in quotes."""
    server.answers[f"GET {ROOT}/pods/{pod}/log"] = (200, text)


def test_logs_are_the_drivers_unless_others_are_asked_for(server: Server, sparkgen: Sparkgen) -> None:
    """With the container and the options in the request."""
    pod = driver(job(), state=runs(), initContainerStatuses=[{"name": "allocator", "state": runs()}])
    worker = executor(pod, 1, containerStatuses=[{"name": "spark-kubernetes-executor", "state": runs()}])
    fill(server, job(), pod, worker)
    played(server, POD, "hello")
    played(server, "pi-1a2b3c4d-7bab1-exec-1", "task")
    assert sparkgen("logs", "pi", "--tail", "5").out == '"hello"\n'
    assert server.requests[-1][1] == "container=spark-kubernetes-driver&tailLines=5"
    assert sparkgen("logs", "pi", "--allocator", "--previous").out == '"hello"\n'
    assert server.requests[-1][1] == "container=allocator&previous=true"
    assert sparkgen("logs", "pi", "-e", "1", "-f").out == '"task"\n'
    assert server.requests[-1][1] == "container=spark-kubernetes-executor&follow=true"
    assert (
        sparkgen("logs", "pi", "--all").out == '[driver] "hello"\n[allocator] "hello"\n[executor 1] "task"\n'
    )


def test_a_session_is_shown_as_what_it_is(server: Server, sparkgen: Sparkgen) -> None:
    """Its log is the allocator's, its UI elsewhere; it is no earlier run of the document."""
    pod = allocator_pod(session(), runs())
    fill(server, job(ended="Complete"), session(), pod)
    played(server, pod["metadata"]["name"], "hello")
    *_, line = sparkgen("status", "pi", "-o", "wide").out.splitlines()
    assert line.split()[:3] == ["pi", "pi-session-0a1b2", "Running"]
    assert "session" in line.split()
    assert [run["session"] for run in json.loads(sparkgen("status", "-o", "json").out)["runs"]] == [
        False,
        True,
    ]
    result = sparkgen("logs", "pi-session-0a1b2")
    assert result.out == '"hello"\n'
    assert "the driver of a session logs to its own terminal" in result.err
    assert server.requests[-1][1] == "container=allocator"
    assert sparkgen("logs", "pi", "--run", "pi-session-0a1b2", "--all").out == '[allocator] "hello"\n'
    assert "http://localhost:4040" in sparkgen("ui", "pi", "--run", "pi-session-0a1b2").err


def test_all_logs_are_followed_until_the_run_is_over(server: Server, sparkgen: Sparkgen) -> None:
    """Then the command ends by itself."""
    fill(server, job(ended="Complete"), driver(job(), state=ends()))
    played(server, POD, "hello")
    result = sparkgen("logs", "pi", "--all", "-f")
    assert (result.code, result.out) == (0, '[driver] "hello"\n')


def test_a_log_that_is_not_there_is_said_with_the_reason(server: Server, sparkgen: Sparkgen) -> None:
    """Not begun, over, and an executor that is none."""
    fill(server, job(spec={"suspend": True}))
    result = sparkgen("logs", "pi")
    assert result.code == 2
    assert (
        "no log yet for pi-1a2b3c4d, which is Suspended: it is suspended: set spec.suspend to" in result.err
    )
    assert "; to wait for it, add -f" in result.err
    fill(server, job(ended="Failed"))
    assert (
        "no log for pi-1a2b3c4d, which is Failed: its driver's pod and log are gone"
        in sparkgen("logs", "pi", "-f").err
    )
    assert "pi-1a2b3c4d has no executor 7: it has no executors now" in sparkgen("logs", "pi", "-e", "7").err
    assert (
        "--executor, --allocator and --all cannot be combined"
        in sparkgen("logs", "pi", "-e", "7", "--all").err
    )
    assert "--previous cannot be combined with -f" in sparkgen("logs", "pi", "--previous", "-f").err


def test_following_waits_for_a_driver_that_has_not_begun(
    server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says once what it waits for."""
    fill(server, job())
    played(server, POD, "hello")
    steps = iter([(job(),), (job(), driver(job(), state=runs()))])
    monkeypatch.setattr("time.sleep", lambda seconds: fill(server, *next(steps)))
    result = sparkgen("logs", "pi", "-f")
    assert (result.code, result.out) == (0, '"hello"\n')
    assert result.err == "sparkgen: waiting: pi-1a2b3c4d is Pending\n"


@pytest.mark.parametrize("command", [["logs", "pi", "-f"], ["ui", "pi", "--port", "0"]])
def test_ctrl_c_ends_the_command_alone(
    server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """Exit code 130, and nothing but questions was asked of the server."""
    fill(server, job(), *([driver(job(), state=runs())] if command[0] == "ui" else []))

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupt)
    result = sparkgen(*command)
    assert result.code == 130
    assert result.err.endswith("sparkgen: interrupted\n")
    assert {request[0].split()[0] for request in server.requests} == {"GET"}


def test_what_kept_the_driver_from_beginning_has_the_log(server: Server, sparkgen: Sparkgen) -> None:
    """The init container that failed, and a word that it is not the driver's."""
    fill(
        server,
        job(ended="Failed"),
        driver(job(), initContainerStatuses=[{"name": "install", "state": ends(1)}]),
    )
    played(server, POD, "expired")
    result = sparkgen("logs", "pi")
    assert (result.code, result.out) == (0, '"expired"\n')
    assert result.err == "sparkgen: the driver has not started; this is the log of install:\n"


def test_there_is_no_ui_without_a_driver(server: Server, sparkgen: Sparkgen) -> None:
    """Before it and after it."""
    fill(server, job())
    assert "pi-1a2b3c4d is Pending; its UI starts with the driver" in sparkgen("ui", "pi").err
    fill(server, job(ended="Complete"))
    result = sparkgen("ui", "pi")
    assert result.code == 2
    assert "pi-1a2b3c4d is Succeeded; its UI has ended; use a history server" in result.err


def test_the_ui_is_there_until_the_driver_ends(
    server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is data; why it ends is a note."""
    pod = driver(job(), state=runs())
    fill(server, job(), pod)
    server.answers[f"GET {ROOT}/pods/{POD}"] = (200, driver(job(), state=ends()))
    monkeypatch.setattr("sparkgen.usecases.forwarding.LOOK_SECONDS", 0.01)
    result = sparkgen("ui", "pi", "--port", "0")
    assert result.code == 0
    assert re.fullmatch(r"http://pi-analytics-[0-9a-f]{16}\.localhost:\d+\n", result.out)
    again = sparkgen("ui", "pi", "--port", "0")
    assert again.out.partition(".")[0] != result.out.partition(".")[0]
    assert result.err.splitlines() == [
        "forwarding the Spark UI of pi-1a2b3c4d; press Ctrl-C to stop",
        "the driver of pi-1a2b3c4d has ended, and so has its UI",
    ]


def test_the_ui_is_at_both_addresses_of_localhost(
    server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Browsers may try either, and another user's program could be at the other one."""
    fill(server, job(), driver(job(), state=runs()))
    served: list[str] = []

    def look(forwarding: Forwarding) -> bool:
        for address in filter(has, LOCALHOST):
            with socket.create_connection((address, forwarding.port), 5):
                served.append(address)
        return True

    monkeypatch.setattr(Forwarding, "until_the_end", look)
    assert sparkgen("ui", "pi", "--port", "0").code == 0
    assert served == [*filter(has, LOCALHOST)]
