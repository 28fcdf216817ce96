"""`sparkgen apply` of several applications: at once, told in their order, and what ends it early."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkgen import thread_map
from sparkgen.usecases import apply as usecase

from .conftest import DOCUMENT, Cli, Result, child_environment
from .kube import Kube

Act = Callable[..., Result]
CONFIG_MAPS = "/api/v1/namespaces/analytics/configmaps"
NAMES = ("one", "two", "three")
OBJECTS = 8


@pytest.fixture
def act(cli: Cli, kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Act:
    """A function: run `sparkgen ARGUMENTS` with that cluster; three.yaml has three applications."""
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig(tmp_path))
    Path("three.yaml").write_text("---\n".join(DOCUMENT.replace("pi\n", f"{name}\n", 1) for name in NAMES))
    return cli


def own(lines: list[str], name: str) -> list[str]:
    """The lines that are about an application."""
    return [line for line in lines if f"/{name} " in line or f"/{name}-" in line]


def test_several_are_told_in_their_order(act: Act, kube: Kube) -> None:
    """Each with its objects in theirs, whichever is done first."""
    late = threading.Event()
    kube.hold["PATCH /api/v1/namespaces/analytics/serviceaccounts/one"] = late
    threading.Timer(0.3, late.set).start()
    result = act("apply", "three.yaml", "--skip-preflight")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines == [line for name in NAMES for line in own(lines, name)]
    assert len(lines) == OBJECTS * len(NAMES)
    for name in NAMES:
        made = [line for line in kube.asked if line.startswith("PATCH") and f"/{name}" in line]
        assert ("serviceaccounts" in made[0], "/jobs/" in made[-1]) == (True, True)
    assert [name for name in NAMES if f"sparkgen status {name}" in result.err] == list(NAMES)


def test_what_is_the_same_for_all_is_asked_once(act: Act, kube: Kube) -> None:
    """And of an object that is not there, the dry run tells: each is sent twice, and nothing is read."""
    secret = ("--set", "spec.imagePullSecrets={registry}")
    kube.objects["/api/v1/namespaces/analytics/secrets/registry"] = {
        "kind": "Secret",
        "metadata": {"name": "registry"},
    }
    assert act("apply", "three.yaml", *secret).code == 0
    asked = Counter(line.replace(" dry", "") for line in kube.asked)
    for line in ("/version", "/api/v1/nodes", "/api/v1/namespaces/analytics"):
        assert asked[f"GET {line}"] == 1
    assert asked["GET /api/v1/namespaces/analytics/resourcequotas"] == 1
    assert asked["GET /api/v1/namespaces/analytics/secrets/registry"] == 1
    assert asked["GET /apis/batch/v1/namespaces/analytics/jobs"] == 1
    assert sum(count for line, count in asked.items() if line.startswith("GET")) == 6
    assert {count for line, count in asked.items() if line.startswith("PATCH")} == {2}


def test_a_changed_document_beside_an_active_run(act: Act, kube: Kube) -> None:
    """The second driver is announced before it starts, and not after the first has ended."""
    assert "active" not in act("apply", "app.yaml").err
    [first] = kube.named("Job")
    changed = ("apply", "app.yaml", "--set", "spec.arguments={a}", "--dry-run")
    done = act(*changed)
    assert f"starts another run while an earlier one is active: {first}\n" in done.err
    assert f"next: to end the earlier run first: sparkgen kill pi --run {first} -n analytics\n" in done.err
    assert "earlier one is active" not in act("apply", "app.yaml", "--dry-run").err
    job = kube.one("Job", first)
    job["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert "earlier one is active" not in act(*changed).err


def test_after_a_failure_none_is_begun(act: Act, kube: Kube, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done is told, and how many are left."""
    monkeypatch.setattr(usecase, "CONNECTIONS", 1)
    kube.refuse["PATCH", f"{CONFIG_MAPS}/two-tuning"] = (500, "etcd is away")
    result = act("apply", "three.yaml", "--skip-preflight")
    assert result.code == 2
    assert result.err.endswith(
        "etcd is away. 1 of 3 applications were not started. The objects above are applied; "
        "fix the error and apply again\n"
    )
    assert len(own(result.out.splitlines(), "one")) == OBJECTS
    assert "serviceaccount/two created" in result.out
    assert [name.partition("-")[0] for name in kube.named("Job")] == ["one"]


def test_a_failure_leaves_the_others_whole(act: Act, kube: Kube) -> None:
    """An application that is under way is completed; every failure is told."""
    for name in ("one", "two"):
        kube.refuse["PATCH", f"{CONFIG_MAPS}/{name}-tuning"] = (500, f"no {name}")
    result = act("apply", "three.yaml", "--skip-preflight")
    assert result.code == 2
    told = len(own(result.out.splitlines(), "three"))
    assert told in (0, OBJECTS)
    assert len([name for name in kube.named("Job") if name.startswith("three")]) == told // OBJECTS
    assert ("no one" in result.err) or ("no two" in result.err)


def test_documents_that_share_objects_are_refused(act: Act, kube: Kube) -> None:
    """The later one would have the last word, and nobody would see it."""
    spec = DOCUMENT.partition("spec:\n")[2].replace("instances: 2", "instances: 5")
    head = DOCUMENT.partition("spec:\n")[0].replace("kind: Spark", "kind: ScheduledSpark")
    nested = "".join(f"  {line}\n" for line in spec.splitlines())
    scheduled = f'{head}spec:\n  schedule: "0 3 * * *"\n  template:\n{nested}'
    Path("twice.yaml").write_text(f"{DOCUMENT}---\n{scheduled}")
    result = act("apply", "twice.yaml", "--skip-preflight")
    assert result.code == 1
    assert "error[SG019] metadata.name: ScheduledSparkApplication pi renders ConfigMap pi-" in result.err
    assert kube.named("ConfigMap") == []


def stranger(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    """An object of somebody else's, as a server has it."""
    own = {"name": name, "uid": "u", "creationTimestamp": "2026-11-22T00:00:00Z", "resourceVersion": "1"}
    return {"kind": kind, "metadata": {**metadata, **own}}


ACCOUNT = "/api/v1/namespaces/analytics/serviceaccounts/pi"
ROLE = "/apis/rbac.authorization.k8s.io/v1/namespaces/analytics/roles/pi"
OF_ANOTHER = {"labels": {"sparkgen.dev/application": "reports", "app.kubernetes.io/managed-by": "sparkgen"}}
OF_A_SERVER = {
    "labels": {
        "sparkgen.dev/application": "pi",
        "sparkgen.dev/history-server": "pi",
        "app.kubernetes.io/component": "history-server",
    }
}
BY_HELM = {"labels": {"sparkgen.dev/application": "pi", "app.kubernetes.io/managed-by": "Helm"}}


@pytest.mark.parametrize("options", [[], ["--skip-preflight"], ["--force-conflicts"], ["--dry-run"]], ids=str)
@pytest.mark.parametrize(
    ("metadata", "says", "step"),
    [
        (OF_ANOTHER, "belong to the application reports", "choose a name other than pi"),
        (OF_A_SERVER, "belong to the history server pi", "choose a name other than pi"),
        ({}, "sparkgen did not create them", "--take-ownership"),
    ],
    ids=["another application", "a server with an application's label", "made by hand"],
)
def test_what_is_somebody_elses_is_not_touched(
    act: Act, kube: Kube, metadata: dict[str, Any], says: str, step: str, options: list[str]
) -> None:
    """All of it is named at once, and nothing of any application is applied."""
    kube.objects[ACCOUNT] = stranger("ServiceAccount", "pi", **metadata)
    kube.objects[ROLE] = stranger("Role", "pi", **metadata)
    before = dict(kube.objects)
    Path("both.yaml").write_text(f"{DOCUMENT}---\n{DOCUMENT.replace('name: pi', 'name: other')}")
    result = act("apply", "both.yaml", *options)
    assert result.code == 1
    assert "error: ServiceAccount pi, Role pi exist already" in result.err
    assert (says in result.err, step in result.err) == (True, True)
    assert result.err.endswith("nothing was applied\n")
    assert kube.objects == before


def test_an_account_of_another_application_may_be_used(act: Act, kube: Kube) -> None:
    """The next step that the message names is one."""
    kube.objects[ACCOUNT] = stranger("ServiceAccount", "pi", **OF_ANOTHER)
    result = act("apply", "app.yaml")
    assert (result.code, "`serviceAccount.create: false`" in result.err) == (1, True)
    account = ("--set", "spec.serviceAccount.create=false", "--set", "spec.serviceAccount.name=pi")
    assert act("apply", "app.yaml", *account).code == 0
    assert kube.objects[ACCOUNT]["metadata"]["labels"] == OF_ANOTHER["labels"]


def test_what_nobody_owns_may_be_taken_over(act: Act, kube: Kube) -> None:
    """On purpose; and what is another application's not even then."""
    kube.objects[ACCOUNT] = stranger("ServiceAccount", "pi")
    assert act("apply", "app.yaml").code == 1
    assert act("apply", "app.yaml", "--take-ownership").code == 0
    assert kube.one("ServiceAccount", "pi")["metadata"]["labels"]["sparkgen.dev/application"] == "pi"
    kube.objects[ROLE] = stranger("Role", "pi", **OF_ANOTHER)
    assert act("apply", "app.yaml", "--take-ownership").code == 1


@pytest.mark.parametrize("options", [[], ["--skip-preflight"]], ids=str)
def test_what_helm_or_a_controller_made_of_it_is_its_own(act: Act, kube: Kube, options: list[str]) -> None:
    """Whoever applied the rendered objects before: the application's label says whose they are."""
    kube.objects[ACCOUNT] = stranger("ServiceAccount", "pi", **BY_HELM)
    assert act("apply", "app.yaml", *options).code == 0


def test_who_may_not_look_is_told(act: Act, kube: Kube) -> None:
    """Without the right to read an object nobody can tell whose it is; the API server has the last word."""
    kube.objects[ACCOUNT] = stranger("ServiceAccount", "pi", **OF_ANOTHER)
    kube.refuse["GET", ACCOUNT] = (403, "you may not")
    result = act("apply", "app.yaml")
    assert (
        result.code,
        "not checked: who owns ServiceAccount pi, which you may not read" in result.err,
    ) == (0, True)


def child(*arguments: str, stdout: int, stderr: int) -> subprocess.Popen[str]:
    """`sparkgen ARGUMENTS` as a process of its own."""
    command = [sys.executable, "-m", "sparkgen", *arguments]
    environment = child_environment(KUBECONFIG=os.environ["KUBECONFIG"])
    return subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
    )


def test_ctrl_c_leaves_at_once_and_says_what_is_done(act: Act, kube: Kube) -> None:
    """Exit code 130, though the server does not answer: what it did before is told."""
    assert act("validate", "three.yaml").code == 0
    path = f"{CONFIG_MAPS}/one-tuning"
    kube.hold[f"PATCH {path}"] = threading.Event()
    process = child("apply", "three.yaml", "--skip-preflight", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 20
    while len(kube.named("Job")) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=15)
    assert (process.returncode, err) == (130, "sparkgen: interrupted\n")
    lines = out.splitlines()
    assert [len(own(lines, name)) for name in ("two", "three")] == [OBJECTS, OBJECTS]
    assert "serviceaccount/one created" in lines
    assert not any("one-tuning" in line for line in lines)


@pytest.mark.parametrize("options", [[], ["--skip-preflight"]], ids=str)
def test_a_reader_that_goes_away_stops_nothing(act: Act, kube: Kube, options: list[str]) -> None:
    """As in `sparkgen apply ... 2>&1 | head`: all is applied, and the exit code says so."""
    assert act("validate", "three.yaml").code == 0
    read, write = os.pipe()
    process = child("apply", "three.yaml", *options, stdout=write, stderr=write)
    os.close(write)
    os.close(read)
    assert process.wait(timeout=30) == 0
    assert len(kube.named("Job")) == len(NAMES)


def test_so_many_are_worked_on_at_once() -> None:
    """Three wait for each other; what one raises comes up when it is asked for; the rest is not begun."""
    together, stop = threading.Barrier(3), threading.Event()

    def work(number: int) -> int:
        together.wait(10)
        stop.set()
        if number == 1:
            raise ValueError(number)
        return number * 2

    futures = thread_map.start(work, range(5), 3, stop)
    assert (futures[0].result(10), futures[2].result(10)) == (0, 4)
    assert isinstance(futures[1].exception(10), ValueError)
    usecase.wait(futures, 10)
    assert [future.cancelled() for future in futures] == [False, False, False, True, True]
