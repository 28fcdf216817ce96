"""`sparkgen shell`: a session in a cluster of the tests, with an allocator of the tests behind the tunnel."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from socketserver import TCPServer
from typing import Any

import pytest

from sparkgen.cluster import Cluster, ClusterError
from sparkgen.live.tunnel import Tunnel
from sparkgen.objects import Object
from sparkgen.runtime.allocator.driver import properties
from sparkgen.shell import client_files
from sparkgen.usecases import forwarding, wait

from .conftest import DOCUMENT, Cli, Result
from .kube import Kube
from .session_allocator import JAR, Forwarded, SessionAllocator

Shell = Callable[..., Result]
SHOW = """
import json, os, pathlib
folder = pathlib.Path(os.environ["SPARK_CONF_DIR"])
files = {str(path): [oct(path.stat().st_mode & 0o777), path.read_bytes().decode(errors="replace")]
         for path in sorted(folder.parent.rglob("*")) if path.is_file()}
mode = oct(folder.parent.stat().st_mode & 0o777)
print(json.dumps({"files": files, "environment": dict(os.environ), "folder": mode}))
"""


@pytest.fixture
def allocator() -> Iterator[SessionAllocator]:
    """An allocator that answers."""
    made = SessionAllocator()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def shell(
    cli: Cli, kube: Kube, allocator: SessionAllocator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Shell:
    """A function: `sparkgen shell ARGUMENTS` on a cluster whose Jobs get a pod when they are let go."""
    for name in ("SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    runtime = tmp_path / "run"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    monkeypatch.setattr(wait, "DRIVER_SECONDS", 0.02)
    monkeypatch.setattr(forwarding, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(Cluster, "forward", lambda *_: Forwarded(allocator))
    put = kube.put

    def put_and_start(path: str, item: Object) -> Object:
        made = put(path, item)
        session = item["metadata"].get("labels", {}).get("app.kubernetes.io/component") == "session"
        if session and item["kind"] == "Job" and item["spec"].get("suspend") is False:
            variables = item["spec"]["template"]["spec"]["containers"][0]["env"]
            allocator.expected = next(
                one["value"] for one in variables if one["name"] == "SPARKGEN_SESSION_TOKEN_SHA256"
            )
            name = item["metadata"]["name"]
            allocator.rendered = kube.one("ConfigMap", f"{name}-conf")["data"]["spark-defaults.conf"]
            put(f"/api/v1/namespaces/analytics/pods/{name}-x7k2p", pod_of(made))
        return made

    monkeypatch.setattr(kube, "put", put_and_start)
    return lambda *arguments: cli("shell", *arguments)


def pod_of(job: Object, **more: Any) -> Object:
    """The pod of a session, which is ready."""
    status = {
        "name": "allocator",
        "ready": True,
        "state": {"running": {"startedAt": "2026-11-22T01:00:00Z"}},
        **more,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{job['metadata']['name']}-x7k2p",
            "labels": job["spec"]["template"]["metadata"]["labels"],
            "ownerReferences": [{"kind": "Job", "uid": job["metadata"]["uid"], "controller": True}],
        },
        "spec": job["spec"]["template"]["spec"],
        "status": {"phase": "Running", "containerStatuses": [status]},
    }


def program(script: str) -> list[str]:
    """A program of Python, behind --."""
    return ["--driver-host", "127.0.0.1", "--", sys.executable, "-c", script]


def test_a_program_has_all_that_a_driver_needs(
    shell: Shell, kube: Kube, allocator: SessionAllocator, tmp_path: Path
) -> None:
    """In files that its user alone reads; no secret is in a variable; and then all is gone."""
    result = shell("app.yaml", *program(SHOW))
    assert result.code == 0, result.err
    shown = json.loads(result.out)
    files = {Path(name).name: content for name, content in shown["files"].items()}
    assert shown["folder"] == "0o700"
    assert {mode for mode, _ in files.values()} == {"0o600"}
    given = properties.parse(files["spark-defaults.conf"][1])
    folder = Path(shown["environment"]["SPARK_CONF_DIR"]).parent
    assert folder.parent == tmp_path / "run"
    assert given["spark.master"].startswith("sparkgen://127.0.0.1:")
    assert given["spark.driver.extraClassPath"] == str(folder / "scheduler.jar")
    assert given["spark.sparkgen.tokenFile"] == str(folder / "token")
    assert given["spark.sparkgen.sparkVersion"] == "3.5.8"
    assert given["spark.authenticate.secret"] == "r\\pc"
    assert given["spark.driver.port"] == str(allocator.told["port"])
    assert files["scheduler.jar"][1] == JAR.decode()
    assert {"log4j2.properties", "metrics.properties"} <= set(files)
    assert "executor.sh" not in files
    secrets = (files["token"][1], "r\\pc")
    assert not [secret for secret in secrets if secret in str(shown["environment"]) + result.err]
    assert shown["environment"]["PYSPARK_PYTHON"] == "python3"
    assert Path(shown["environment"]["PYSPARK_DRIVER_PYTHON"]).is_absolute()
    assert shown["environment"]["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert allocator.alive >= 1
    assert (kube.named("Job"), list((tmp_path / "run").iterdir())) == ([], [])


def test_the_commands_requests_need_no_port_of_this_machine(
    shell: Shell, allocator: SessionAllocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others of the machine may fill the port that its program uses."""
    monkeypatch.setattr(Tunnel, "process_request", lambda self, near, _: self.shutdown_request(near))
    result = shell("app.yaml", *program(""))
    assert result.code == 0, result.err
    assert allocator.alive >= 1
    assert allocator.told


def test_only_what_is_missing_is_made(shell: Shell, kube: Kube, cli: Cli) -> None:
    """What an apply has made stays as it is; the session's files are its own, and go with its Job."""
    assert cli("apply", "app.yaml", "-q").code == 0
    before = {
        path: item["metadata"]["resourceVersion"]
        for path, item in kube.objects.items()
        if "resourceVersion" in item["metadata"]
    }
    assert shell("app.yaml", *program("")).code == 0
    assert {path: kube.objects[path]["metadata"]["resourceVersion"] for path in before} == before
    more = [item for path, item in kube.objects.items() if path not in before and item["kind"] == "ConfigMap"]
    [session] = {item["metadata"]["ownerReferences"][0]["name"] for item in more}
    assert {item["metadata"]["name"] for item in more} == {
        f"{session}-conf",
        f"{session}-executor",
        f"{session}-tuning",
    }
    assert {item["metadata"]["labels"]["app.kubernetes.io/component"] for item in more} == {"session"}


@pytest.mark.parametrize(("script", "code"), [("exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_the_exit_code_is_the_programs(shell: Shell, kube: Kube, script: str, code: int) -> None:
    """And the session is gone after it."""
    assert shell("app.yaml", *program(f"import sys; {script}")).code == code
    assert kube.named("Job") == []


@pytest.fixture
def heard_signals() -> Iterator[None]:
    """Whoever plays these tests may have been started with a signal ignored, as by nohup."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("heard_signals")
def test_a_signal_is_the_programs_and_the_session_ends(shell: Shell, kube: Kube) -> None:
    """SIGTERM and SIGHUP, each passed on."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        script = f"import os, signal, time; os.kill({os.getpid()}, {int(number)}); time.sleep(30)"
        assert shell("app.yaml", *program(script)).code == 128 + number
        assert kube.named("Job") == []


@pytest.mark.usefixtures("heard_signals")
def test_a_signal_while_it_begins_ends_what_was_begun(
    shell: Shell, kube: Kube, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the session is left, and no program runs."""
    monkeypatch.setattr("time.sleep", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    monkeypatch.setattr(wait, "is_ready", lambda _: False)
    assert shell("app.yaml", *program("print(1)")).code == 128 + signal.SIGTERM
    assert kube.named("Job") == []


def test_a_job_whose_making_was_not_answered_is_deleted(
    shell: Shell, kube: Kube, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is suspended, so that it would never end by itself."""
    create = Cluster.create

    def lose(cluster: Cluster, item: Object, **more: Any) -> Object:
        made = create(cluster, item, **more)
        if item["kind"] == "Job":
            raise ClusterError("the connection broke")
        return made

    monkeypatch.setattr(Cluster, "create", lose)
    result = shell("app.yaml", *program("print(1)"))
    assert (result.code, result.out) == (2, "")
    assert "the connection broke" in result.err
    assert kube.named("Job") == []


def test_another_session_of_the_same_name_stays(
    shell: Shell, kube: Kube, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are random, and short."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "a" * 32)
    there = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi-session-aaaaa"}, "spec": {}}
    kube.put("/apis/batch/v1/namespaces/analytics/jobs/pi-session-aaaaa", there)
    result = shell("app.yaml", *program("print(1)"))
    assert (result.code, result.out) == (2, "")
    assert "pi-session-aaaaa already exists" in result.err
    assert kube.named("Job") == ["pi-session-aaaaa"]


def test_a_session_that_nobody_let_go_is_deleted_by_the_next(shell: Shell, kube: Kube) -> None:
    """Its command was killed in between. One that has just been made, and one in a queue, stay.

    So does a run that its document has suspended, and has given a session's label.
    """

    def left(name: str, queue: str = "", component: str = "session") -> None:
        labels = {"sparkgen.dev/application": "pi", "app.kubernetes.io/component": "session"}
        labels |= {"kueue.x-k8s.io/queue-name": queue} if queue else {}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels}}
        pod = {"labels": {"app.kubernetes.io/component": component}}
        spec = {"suspend": True, "template": {"metadata": pod, "spec": {"containers": []}}}
        kube.put(f"/apis/batch/v1/namespaces/analytics/jobs/{name}", {**job, "spec": spec})

    left("pi-session-aaaaa")
    left("pi-1a2b3c4d", component="driver")
    left("pi-session-bbbbb", "team")
    kube.version += 660
    left("pi-session-ccccc")
    assert shell("app.yaml", *program("")).code == 0
    assert kube.named("Job") == ["pi-1a2b3c4d", "pi-session-bbbbb", "pi-session-ccccc"]


def test_a_driver_that_lets_everybody_in_is_refused(shell: Shell, kube: Kube) -> None:
    """Its port is open to the network of this machine; nothing is made."""
    Path("app.yaml").write_text(f'{DOCUMENT}  sparkConf:\n    spark.authenticate: "False"\n')
    result = shell("app.yaml", *program("print(1)"))
    assert (result.code, result.out) == (2, "")
    assert "spark.authenticate is False: anybody who can reach the driver's port" in result.err
    assert {item["kind"] for item in kube.objects.values()} == {"Namespace"}


@pytest.mark.parametrize("scheduler", ["volcano", "yunikorn"])
def test_a_group_with_the_driver_in_it_is_refused(shell: Shell, kube: Kube, scheduler: str) -> None:
    """Its pod would wait for a group that nobody makes. What is said to add lets the session begin."""
    Path("app.yaml").write_text(f"{DOCUMENT}  batchScheduler: {scheduler}\n")
    result = shell("app.yaml", *program("print(1)"))
    assert (result.code, result.out) == (2, "")
    assert f"batchScheduler {scheduler} reserves room for a driver" in result.err
    assert {item["kind"] for item in kube.objects.values()} == {"Namespace"}
    step = "spec.batchScheduler=null,spec.batchSchedulerOptions=null"
    assert step in result.err
    assert shell("app.yaml", "--set", step, *program("print(1)")).code == 0


def test_what_cannot_reach_what_is_said(shell: Shell, kube: Kube, allocator: SessionAllocator) -> None:
    """In the allocator's words, with what to do; nothing stays."""
    allocator.unreachable = "the pod pi-x (10.88.0.7) cannot reach 127.0.0.1:7078: no route to host"
    result = shell("app.yaml", *program("print(1)"))
    assert (result.code, result.out) == (2, "")
    assert allocator.unreachable in result.err
    for words in ("--driver-host", "--driver-port", "Connect server"):
        assert words in result.err
    assert kube.named("Job") == []


def test_a_taken_port_is_said(shell: Shell) -> None:
    """It is the driver's, and cannot be another."""
    with socket.create_server(("0.0.0.0", 0)) as taken:  # noqa: S104 - as the driver listens
        port = str(taken.getsockname()[1])
        result = shell("app.yaml", "--driver-port", port, *program("print(1)"))
    assert result.code == 2
    assert f"cannot listen on --driver-port {port}: Address already in use" in result.err


def test_all_missing_rights_are_said_before_anything_is_made(shell: Shell, kube: Kube) -> None:
    """Each by its verb and resource."""
    kube.denied = {"create jobs", "get pods/portforward", "create configmaps"}
    result = shell("app.yaml", *program("print(1)"))
    assert result.code == 2
    assert "create configmaps, create jobs.batch, get pods/portforward" in result.err
    assert {item["kind"] for item in kube.objects.values()} == {"Namespace"}


def test_objects_that_a_person_may_not_make_may_be_there(shell: Shell, kube: Kube, cli: Cli) -> None:
    """Somebody else has applied the document; without them, it is said what to do."""
    for method in ("PATCH", "POST"):
        kube.refuse[(method, "/apis/rbac.authorization.k8s.io")] = (403, 'roles is forbidden: User "me"')
    result = shell("app.yaml", *program("print(1)"))
    assert result.code == 2
    assert "or ask someone with this permission to apply the document" in result.err
    del kube.refuse["PATCH", "/apis/rbac.authorization.k8s.io"]  # somebody else applies it
    assert cli("apply", "app.yaml", "-q", "--skip-preflight").code == 0
    assert shell("app.yaml", *program("print(1)")).out == "1\n"


def test_what_a_session_makes_first_is_as_applied(shell: Shell, kube: Kube, cli: Cli) -> None:
    """A later `apply` takes away what the document drops: of objects that are created it cannot.

    What is there stays as it is. Whoever may create and not patch has a session as well.
    """
    kinds = ("serviceaccounts/pi", "roles/pi", "rolebindings/pi")

    def asked() -> set[str]:
        found = {line.partition(" ")[0] for line in kube.asked if line.endswith(kinds)}
        kube.asked.clear()
        return found

    def basis() -> dict[str, Object]:
        return {path: item for path, item in kube.objects.items() if path.endswith(kinds)}

    assert shell("app.yaml", *program("")).code == 0
    assert asked() == {"GET", "PATCH"}
    made = basis()
    assert len(made) == len(kinds)
    assert shell("app.yaml", "--set", "metadata.labels.team=a", *program("")).code == 0
    assert (asked(), basis()) == ({"GET"}, made)

    kube.objects = {path: item for path, item in kube.objects.items() if path not in made}
    for start in ("/api/v1/namespaces/analytics/serviceaccounts", "/apis/rbac.authorization.k8s.io"):
        kube.refuse["PATCH", start] = (403, 'forbidden: User "me" cannot patch')
    assert shell("app.yaml", *program("print(1)")).out == "1\n"
    assert basis().keys() == made.keys()


def test_an_object_of_another_application_is_not_used(shell: Shell, kube: Kube) -> None:
    """Its account would be that application's."""
    labels = {"sparkgen.dev/application": "other"}
    path = "/api/v1/namespaces/analytics/serviceaccounts/pi"
    kube.put(
        path, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "pi", "labels": labels}}
    )
    result = shell("app.yaml", *program("print(1)"))
    assert result.code == 2
    assert "ServiceAccount pi exists already and belongs to the application other" in result.err


def test_a_session_that_is_ended_is_said(shell: Shell, kube: Kube) -> None:
    """The program goes on: what it does without Spark is its own."""
    script = f"""
import json, time
from urllib.request import Request, urlopen
for path in ("batch/v1/namespaces/analytics/jobs", "v1/namespaces/analytics/pods"):
    at = "http://127.0.0.1:{kube.server_port}/" + ("apis/" if "batch" in path else "api/") + path
    [item] = json.load(urlopen(at))["items"]
    urlopen(Request(at + "/" + item["metadata"]["name"], method="DELETE"))
time.sleep(1)
print("still here")
"""
    result = shell("app.yaml", *program(script))
    assert (result.code, result.out) == (0, "still here\n")
    assert re.search(r"the session pi-session-[0-9a-f]{5} has ended; Spark stops in your program", result.err)


def test_a_driver_that_asks_hears_that_its_session_has_ended(
    shell: Shell, kube: Kube, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, where the way to the allocator was: as after the sleep of a machine.

    The port is at no time free: whoever took it would get the session's token with the driver's next request.
    """
    free: list[bool] = []

    def close(tunnel: Tunnel) -> None:
        TCPServer.server_close(tunnel)
        with socket.socket() as near:
            free.append(near.connect_ex(("127.0.0.1", tunnel.port)) != 0)

    monkeypatch.setattr(Tunnel, "server_close", close)
    script = f"""
import json, os, pathlib, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen
text = pathlib.Path(os.environ["SPARK_CONF_DIR"], "spark-defaults.conf").read_text()
allocator = "http://127.0.0.1:" + text.split("sparkgen://127.0.0.1:")[1].split()[0]
at = "http://127.0.0.1:{kube.server_port}/apis/batch/v1/namespaces/analytics/jobs"
[job] = json.load(urlopen(at))["items"]
pods = "http://127.0.0.1:{kube.server_port}/api/v1/namespaces/analytics/pods"
[pod] = json.load(urlopen(pods))["items"]
for one in (at + "/" + job["metadata"]["name"], pods + "/" + pod["metadata"]["name"]):
    urlopen(Request(one, method="DELETE"))
for _ in range(100):
    try:
        urlopen(Request(allocator + "/v1/state", b"{{}}", method="PUT"), timeout=5)
    except HTTPError as error:
        if error.code == 409:
            print(json.load(error)["error"])
            break
    except OSError:
        pass
    time.sleep(0.1)
"""
    result = shell("app.yaml", *program(script))
    assert result.code == 0, result.err
    assert re.fullmatch(r"\[SessionEnded\] the session pi-session-[0-9a-f]{5} has ended\n", result.out)
    assert not free[0]  # later ones are at the command's own end


def test_a_session_is_no_run_of_the_document(shell: Shell, kube: Kube, cli: Cli) -> None:
    """`run` makes none like it, `wait` waits for none; `kill` ends it by its name, `delete` removes it."""
    ask = """
import subprocess, sys
def sparkgen(*arguments):
    done = subprocess.run([sys.executable, "-m", "sparkgen", *arguments], capture_output=True, text=True)
    print(arguments[0], done.returncode, done.stdout, done.stderr, flush=True)
    return done.stdout
sparkgen("run", "pi")
sparkgen("wait", "pi", "--timeout", "1s")
sparkgen("kill", "pi", "--yes")
sparkgen("apply", "app.yaml", "-q")
sparkgen("run", "pi")
session = sparkgen("history", "pi").split()[-4]
sparkgen("kill", "pi", "--run", session, "--yes")
sparkgen("delete", "pi", "--dry-run", "-o", "name")
"""
    result = shell("app.yaml", *program(ask))
    assert result.code == 0, result.err
    assert "pi has sessions, but no run yet; apply the document first" in result.out
    assert "wait 2  sparkgen: pi has sessions, but no run yet" in result.out
    assert re.search(
        r"^kill 0  no run of pi is running; to stop a session, name it: --run pi-session-\w+$",
        result.out,
        re.M,
    )
    made = [name for name in kube.named("Job") if "session" not in name]
    assert re.search(
        r"^kill 0 job\.batch/pi-session-\w+ killed\n its driver is notified at once", result.out, re.M
    )
    assert re.search(r"^delete 0 job\.batch/pi-session-\w+$", result.out, re.M)
    assert len(made) == 2
    assert all(kube.one("Job", name)["spec"]["template"]["spec"]["initContainers"] for name in made)


def test_the_ports_are_the_drivers_at_once(shell: Shell) -> None:
    """Nothing of the command listens there any more when the program begins."""
    bind = """
import os, pathlib, socket
text = pathlib.Path(os.environ["SPARK_CONF_DIR"], "spark-defaults.conf").read_text()
port = int(text.split("spark.driver.port=")[1].split()[0])
with socket.create_server(("0.0.0.0", port)):
    print("taken")
"""
    assert shell("app.yaml", *program(bind)).out == "taken\n"


def test_the_program_is_looked_for_first(shell: Shell, kube: Kube, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default is a shell of Spark; that of SPARK_HOME is found, too."""
    monkeypatch.setenv("PATH", "/nowhere")
    result = shell("app.yaml")
    assert result.code == 2
    assert "cannot run pyspark: command not found; install Spark 3.5.8" in result.err
    Path("app.yaml").write_text(DOCUMENT.replace("type: Python", "type: Scala"))
    assert "cannot run spark-shell" in shell("app.yaml").err
    assert {item["kind"] for item in kube.objects.values()} == {"Namespace"}
    home = Path("spark/bin")
    home.mkdir(parents=True)
    (home / "spark-shell").write_text("#!/bin/sh\necho shell\n")
    (home / "spark-shell").chmod(0o700)
    monkeypatch.setenv("SPARK_HOME", str(home.parent.absolute()))
    assert shell("app.yaml", "--driver-host", "127.0.0.1").out == "shell\n"


def test_what_of_the_document_means_nothing_is_said(shell: Shell) -> None:
    """Unless nobody wants to hear it."""
    result = shell("app.yaml", *program(""))
    assert "ignored, because they have no meaning in a session:" in result.err
    assert "spec.mainApplicationFile: the command runs instead" in result.err
    assert "without meaning" not in shell("-q", "app.yaml", *program("")).err


@pytest.mark.parametrize(
    ("kind", "words"),
    [("SparkConnectServer", "sparkgen connect pi"), ("SparkShuffleService", "has no executors")],
)
def test_servers_have_no_sessions(shell: Shell, kind: str, words: str) -> None:
    """It says what there is instead."""
    spec = {
        "SparkConnectServer": "sparkVersion: 4.0.1\n  image: spark:4.0.1\n",
        "SparkShuffleService": "sparkVersion: 4.0.1\n  image: spark:4.0.1\n  directories: [/var/lib/x]\n",
    }[kind]
    Path("server.yaml").write_text(
        f"apiVersion: sparkgen.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: pi\nspec:\n  {spec}"
    )
    result = shell("server.yaml", *program(""))
    assert result.code == 2
    assert words in result.err


def test_folders_of_killed_commands_are_removed(shell: Shell, tmp_path: Path) -> None:
    """Those of others that live stay."""
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    with client_files.client_folder(environment) as alive:
        left = tmp_path / "run" / f"{client_files.PREFIX}left"
        left.mkdir()
        (left / client_files.LOCK_FILE).touch()
        assert shell("app.yaml", *program("")).code == 0
        assert [path.name for path in (tmp_path / "run").iterdir()] == [alive.path.name]
        assert stat.S_IMODE(alive.path.stat().st_mode) == 0o700


def test_a_link_is_no_folder_of_a_killed_command(shell: Shell, tmp_path: Path) -> None:
    """In a place that all users share, somebody else may have made it: nothing is looked for behind it."""
    (tmp_path / "mine").mkdir()
    os.mkfifo(tmp_path / "mine" / client_files.LOCK_FILE)  # who opens it waits forever
    (tmp_path / "run" / f"{client_files.PREFIX}link").symlink_to(tmp_path / "mine")
    assert shell("app.yaml", *program("")).code == 0


def test_the_folder_is_not_in_that_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As under sudo: whoever owns the folder around it could put another one in its place."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "run").mkdir()
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    with client_files.client_folder(environment) as own:
        assert own.path.parent == tmp_path / "run"
    monkeypatch.setattr("os.getuid", lambda: tmp_path.stat().st_uid + 1)
    with client_files.client_folder(environment) as other:
        assert other.path.parent == tmp_path


def test_a_folder_that_another_command_removes_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the making of its lock and the locking it looks like one of a killed command."""
    lock = fcntl.flock
    others = [client_files._remove_left]

    def late(descriptor: int, how: int) -> None:
        if others:
            others.pop()(tmp_path)
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with client_files.client_folder({"XDG_RUNTIME_DIR": str(tmp_path)}) as folder:
        folder.write(folder.token, b"t")
        assert [path.name for path in tmp_path.iterdir()] == [folder.path.name]
