"""Runs from programs: started once whatever dies, awaited, listed, ended; all as values and typed errors."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from sparkgen import api
from sparkgen.objects import Object
from tests.unit.cli.kube import Kube
from tests.unit.cli.test_cli_acting import CONFIG_MAPS, JOBS, ended

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
PODS = "/api/v1/namespaces/analytics/pods"


def applied(connection: api.Connection, *sets: str) -> str:
    """Apply app.yaml; the name of its Job."""
    documents = api.load(api.Inputs(("app.yaml",), sets=sets)).documents
    names = [one.item["metadata"]["name"] for one in connection.apply(documents) if one.item["kind"] == "Job"]
    return str(names[0])


def requested(kube: Kube) -> list[str]:
    """The runs that somebody has asked for."""
    return [name for name in kube.named("Job") if kube.one("Job", name)["metadata"].get("annotations")]


def test_it_prints_nothing(connection: api.Connection, kube: Kube, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever it does."""
    name = applied(connection)
    connection.run("pi", request_id="a")
    ended(kube, name, "Failed", 3)
    connection.wait("pi", name)
    connection.kill("pi", connection.run("pi", request_id="b").name)
    connection.status()
    connection.delete("pi")
    assert capfd.readouterr() == ("", "")


def test_apply_returns_what_became_of_each_object(connection: api.Connection, kube: Kube) -> None:
    """The objects have what the server gave them; nothing starts twice."""
    documents = api.load(api.Inputs(("app.yaml",))).documents
    dry = connection.apply(documents, dry_run=True)
    assert {one.result for one in dry} == {"created"}
    assert kube.named("Job") == []
    first = connection.apply(documents)
    assert [one.item["kind"] for one in first] == [one.item["kind"] for one in dry]
    assert all(one.item["metadata"]["uid"] for one in first[1:])  # the first is the runtime, as it was sent
    assert {one.result for one in connection.apply(documents)} == {"unchanged"}


def test_apply_stops_before_anything_is_changed(connection: api.Connection, kube: Kube) -> None:
    """With all findings, not only the first."""
    sets = ("spec.imagePullSecrets={registry}", "spec.run.expiresAt=2020-01-01T00:00:00Z")
    with pytest.raises(api.PreflightFailed) as failed:
        applied(connection, *sets)
    errors = [one for one in failed.value.findings if one.severity is api.Severity.ERROR]
    assert len(errors) == 2
    assert all(one.message in str(failed.value) for one in errors)
    assert failed.value.code == "PreflightFailed"
    assert kube.named("Job") == []


def test_two_documents_with_one_name_are_not_applied(connection: api.Connection, kube: Kube) -> None:
    """One would replace the other."""
    documents = api.load(api.Inputs(("app.yaml",))).documents
    with pytest.raises(api.PreflightFailed, match="renders"):
        connection.apply([*documents, *documents])
    assert kube.named("Job") == []


def test_a_refused_object_leaves_word_of_those_before_it(connection: api.Connection, kube: Kube) -> None:
    """What was applied stays, and is not lost on the caller."""
    kube.refuse["PATCH", JOBS] = (403, "jobs is forbidden")
    documents = api.load(api.Inputs(("app.yaml",))).documents
    with pytest.raises(api.NotApplied) as refused:
        connection.apply(documents, skip_preflight=True)
    assert refused.value.code == "Forbidden"
    assert "ServiceAccount" in {one.item["kind"] for one in refused.value.applied}
    assert isinstance(refused.value, api.ClusterError)


def test_the_same_id_is_the_same_run(connection: api.Connection, kube: Kube) -> None:
    """Another ID is another run; the same one with other arguments is a mistake."""
    applied(connection)
    assert connection.requested("pi", "2026-01-01") is None
    one = connection.run("pi", request_id="2026-01-01", arguments=["1"])
    found = connection.requested("pi", "2026-01-01")
    assert found is not None
    assert (found.run, found.life.state) == (one.name, api.State.PENDING)
    again = connection.run("pi", request_id="2026-01-01", arguments=["1"])
    assert (one.begun, again.begun, again.name) == (True, False, one.name)
    assert connection.run("pi", request_id="2026-01-02").name != one.name
    with pytest.raises(api.Conflict, match="arguments"):
        connection.run("pi", request_id="2026-01-01", arguments=["2"])
    assert len(kube.named("Job")) == 3


def test_two_programs_that_start_one_run_at_once_start_one(connection: api.Connection, kube: Kube) -> None:
    """The second creates what is there by then."""
    applied(connection)
    starting = f"POST {JOBS}"
    kube.meanwhile[starting] = lambda: connection.run("pi", request_id="a")
    run = connection.run("pi", request_id="a")
    assert starting not in kube.meanwhile
    assert len(kube.named("Job")) == 2
    assert kube.one("Job", run.name)["spec"]["suspend"] is False
    kube.meanwhile[starting] = lambda: connection.run("pi", request_id="b", arguments=["other"])
    with pytest.raises(api.Conflict, match="arguments"):
        connection.run("pi", request_id="b")


@pytest.mark.parametrize("last", range(1, 12))
def test_a_program_that_died_anywhere_completes_its_run(
    connection: api.Connection, kube: Kube, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each number of requests; the run is whole, and there is one."""
    applied(connection)
    channel: Any = connection._cluster._channel
    send, sent = channel.send, []

    def dying(call: object) -> object:
        if len(sent) == last:
            raise KeyboardInterrupt
        sent.append(call)
        return send(call)

    monkeypatch.setattr(channel, "send", dying)
    try:
        connection.run("pi", request_id="a")
    except KeyboardInterrupt:
        sent.append("died")
    monkeypatch.undo()
    run = connection.run("pi", request_id="a")
    assert kube.one("Job", run.name)["spec"]["suspend"] is False
    assert len(kube.named("Job")) == 2
    files = [name for name in kube.named("ConfigMap") if name.startswith(run.name)]
    assert files
    owners = [kube.one("ConfigMap", name)["metadata"]["ownerReferences"][0]["name"] for name in files]
    assert {*owners} == {run.name}
    assert len(requested(kube)) == 1


def test_wait_returns_how_a_run_has_ended(connection: api.Connection, kube: Kube) -> None:
    """With the exit code of its program, and why; or says that the time is over."""
    name = applied(connection)
    states: list[api.State] = []
    with pytest.raises(TimeoutError, match=name):
        connection.wait("pi", seconds=0.3, tell=lambda _, life: states.append(life.state))
    assert {*states} == {api.State.PENDING}
    ended(kube, name, "Failed", 3)
    kube.logs[f"{PODS}/{name}-x/log"] = "ValueError: no such table: sales\n"
    end = connection.wait("pi")
    assert (end.run, end.exit_code, end.succeeded) == (name, 3, False)
    assert end.reason is not None
    assert "exit code is 3" in end.message
    ended(kube, name)
    assert connection.wait("pi").succeeded


def test_wait_outlives_a_server_that_is_away(connection: api.Connection, kube: Kube) -> None:
    """Unlike one that says no."""
    name = applied(connection)

    def later() -> None:
        kube.refuse.clear()
        ended(kube, name)

    kube.refuse["GET", f"{JOBS}/"] = (503, "the server is currently unable to handle the request")
    threading.Timer(0.5, later).start()
    assert connection.wait("pi", seconds=20).succeeded
    kube.refuse["GET", f"{JOBS}/"] = (403, "jobs is forbidden")
    with pytest.raises(api.ClusterError) as refused:
        connection.wait("pi")
    assert refused.value.code == "Forbidden"


def test_status_and_history_are_values(connection: api.Connection, kube: Kube) -> None:
    """One word for each state, whatever the table shows."""
    name = applied(connection)
    other = connection.run("pi", request_id="a").name
    ended(kube, name)
    rows = connection.history("pi").runs
    assert {row.run: row.life.state for row in rows} == {
        name: api.State.SUCCEEDED,
        other: api.State.PENDING,
    }
    assert [row.run for row in connection.status().runs] == [other]
    assert connection.status(namespaces=["analytics"]).unseen == ()
    with pytest.raises(api.NotFound, match="did you mean pi"):
        connection.status("pie")


def test_logs_and_events(connection: api.Connection, kube: Kube) -> None:
    """A line at a time; and an error where there is none."""
    name = applied(connection)
    with pytest.raises(api.NotFound, match="no log yet"):
        connection.logs("pi")
    ended(kube, name)
    kube.logs[f"{PODS}/{name}-x/log"] = "one\ntwo\n"
    assert list(connection.logs("pi")) == ["one\n", "two\n"]
    uid = kube.one("Job", name)["metadata"]["uid"]
    event: Object = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Job", "name": name, "uid": uid},
        "reason": "SuccessfulCreate",
        "message": "Created pod",
        "type": "Normal",
        "lastTimestamp": "2026-11-22T00:00:01Z",
    }
    kube.put("/api/v1/namespaces/analytics/events/e", event)
    kube.put("/api/v1/namespaces/analytics/events/odd", {**event, "metadata": {"name": "odd"}, "count": "x"})
    [told] = {*connection.events("pi")}
    assert (told.about, told.reason) == (f"Job {name}", "SuccessfulCreate")
    assert (told.warning, told.count) == (False, 1)


def test_kill_and_delete(connection: api.Connection, kube: Kube) -> None:
    """Each says what it has done; again, that nothing was left to do."""
    name = applied(connection)
    second = connection.run("pi", request_id="a").name
    with pytest.raises(api.Conflict, match="several runs"):
        connection.kill("pi")
    assert connection.kill("pi", second) == second
    ended(kube, second, "Failed")
    ended(kube, name)
    assert connection.kill("pi") is None
    gone = connection.delete("pi")
    assert {item["kind"] for item in gone.objects} >= {"Job", "ConfigMap", "ServiceAccount"}
    with pytest.raises(api.NotFound):
        connection.delete("pi")


def test_errors_have_the_codes_of_kubernetes(connection: api.Connection, kube: Kube) -> None:
    """Also when nobody answers."""
    for status, code in ((401, "Unauthorized"), (429, "TooManyRequests"), (503, "Unavailable")):
        kube.refuse["GET", JOBS] = (status, "no")
        with pytest.raises(api.ClusterError) as refused:
            connection.status("pi")
        assert refused.value.code == code
    config = Path(kube.kubeconfig(Path.cwd()))
    config.write_text(config.read_text().replace(f":{kube.server_port}", ":1"))
    with pytest.raises(api.ClusterError) as silent:
        api.connect(kubeconfig=str(config)).status("pi")
    assert (silent.value.code, silent.value.status) == ("Unavailable", None)


def test_what_can_be_called_can_be_awaited(connection: api.Connection, kube: Kube) -> None:
    """Each method, with the same results and errors."""
    awaited = api.AsyncConnection(connection)
    names = {name for name in vars(api.AsyncConnection) if not name.startswith("_")}
    others = {"namespace", "waiting", "end_of"}
    assert names == {name for name in vars(api.Connection) if not name.startswith("_")} - others

    async def program() -> None:
        documents = api.load(api.Inputs(("app.yaml",))).documents
        assert {one.result for one in await awaited.apply(documents, dry_run=False)} == {"created"}
        run = await awaited.run("pi", request_id="a", arguments=["1"])
        ended(kube, run.name, "Failed", 3)
        found = await awaited.requested("pi", "a")
        assert found is not None
        assert found.run == run.name
        end = await awaited.wait("pi", run.name, interval=0.05)
        assert (end.run, end.exit_code) == (run.name, 3)
        kube.logs[f"{PODS}/{run.name}-x/log"] = "one\n"
        assert await awaited.logs("pi", run.name, tail=5) == ["one\n"]
        assert await awaited.events("pi", run.name) == ()
        assert (await awaited.history("pi")).runs
        assert (await awaited.status("pi")).runs
        assert await awaited.kill("pi") is not None
        assert (await awaited.delete("pi")).objects
        with pytest.raises(api.NotFound):
            await awaited.status("pi")

    asyncio.run(program())


def test_an_awaited_wait_can_be_cancelled(connection: api.Connection) -> None:
    """It keeps no thread, and asks no more."""
    applied(connection)
    awaited = api.AsyncConnection(connection)

    async def program() -> None:
        wait = asyncio.create_task(awaited.wait("pi", interval=0.05))
        with pytest.raises(TimeoutError):
            await awaited.wait("pi", seconds=0.2, interval=0.05)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait

    before = {*threading.enumerate()}
    asyncio.run(program())
    assert {*threading.enumerate()} <= before | {
        one for one in threading.enumerate() if "Thread" in one.name and "process_request" in one.name
    }


def test_the_page(
    connection: api.Connection,
    kube: Kube,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its programs run as they stand there, and it names all that there is."""
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    applied(connection, "metadata.name=nightly")
    page = PAGE.read_text().partition("## Runs in a cluster")[2]
    programs = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    assert len(programs) == 2
    finished = threading.Event()

    def end_all() -> None:
        while not finished.wait(0.05):
            for name in requested(kube):
                ended(kube, name)

    threading.Thread(target=end_all, daemon=True).start()
    for program in programs:
        exec(compile(program, "docs/python.md", "exec"), {})  # noqa: S102 - our own page
    finished.set()
    assert capsys.readouterr().out == "[0, 0, 0]\n"
    assert len(requested(kube)) == 3
    methods = {name for name in vars(api.AsyncConnection) if not name.startswith("_")}
    assert all(f"`{name}(" in page for name in methods)
    errors = [one for one in vars(api).values() if isinstance(one, type) and issubclass(one, Exception)]
    assert all(f"| `{one.__name__}` |" in page for one in errors)


def test_files_and_configmaps_of_a_run_are_its_own(connection: api.Connection, kube: Kube) -> None:
    """So that they go with it."""
    applied(connection)
    run = connection.run("pi", request_id="a")
    paths = [path for path in kube.objects if path.startswith(f"{CONFIG_MAPS}/{run.name}-")]
    assert paths
    assert all(kube.objects[path]["metadata"]["ownerReferences"] for path in paths)
