"""The two sides of a case on the test cluster: each submits the same file, and tells what came of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from cluster.runtime_image import CONFIGURED
from differential.inputs import QUICK
from differential.pods import Watch, facts, is_ours, terminated

SECONDS, GOING = 600.0, 60.0
"""How long a driver may take, and then executors until they are gone."""
GO_ON = "/tmp/go-on"  # noqa: S108 - in the driver's container
"""The file that a program waits for which goes on after `main`, once its context is stopped."""
KINDS = (
    "pods,jobs,deployments,services,configmaps,secrets,persistentvolumeclaims,serviceaccounts,"
    "roles,rolebindings,networkpolicies"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where cases run: a namespace with its watch, and the kubeconfig of the account that submits."""

    cluster: Cluster
    namespace: str
    watch: Watch
    kubeconfig: Path


@dataclass(frozen=True, slots=True)
class Side:
    """What a side came to: its report, the names in it that differ in each run, and the driver's log."""

    report: dict[str, Any]
    names: dict[str, str]
    log: str


def native(place: Place, home: Path, script: Path, name: str) -> Side:
    """Submit by Spark's own spark-submit, in a shell that runs the file as it is."""
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    own = {"PATH": path, "SPARK_HOME": str(home), "KUBECONFIG": str(place.kubeconfig)}
    own["JAVA_TOOL_OPTIONS"] = QUICK
    done = subprocess.run(
        [*network.enter(NAME), "bash", str(script)],
        env={**os.environ, **own},
        cwd=script.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return Side({"ended": {"submitted": "no"}}, {}, done.stdout + done.stderr)
    return _observed(place, {"spark-app-name": name}, ours=False)


def imported(place: Place, script: Path, name: str, allocator: str = "sparkgen") -> Side:
    """Import the file, and apply the document with one of the two allocators."""
    sparkgen = (*network.enter(NAME), sys.executable, "-m", "sparkgen")
    application = script.with_name("app.yaml")
    done = _run([*sparkgen, "import", str(script), "--report", "full"])
    script.with_name("import.txt").write_text(done.stderr)
    application.write_text(done.stdout)
    if done.returncode < 2:
        options = ["-n", place.namespace, "--kubeconfig", str(place.cluster.kubeconfig)]
        options += ["--set", f"spec.allocator={allocator}"]
        done = _run([*sparkgen, "apply", str(application), *options])
    if done.returncode != 0:
        return Side({"ended": {"submitted": "no"}}, {}, done.stdout + done.stderr)
    return _observed(place, {"sparkgen.dev/application": name}, ours=True)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=CONFIGURED, capture_output=True, text=True, check=False)


def _observed(place: Place, labels: Mapping[str, str], *, ours: bool) -> Side:
    """Wait until the driver of the side and its executors have ended, and tell what is there then."""
    watch = place.watch

    def drivers() -> list[dict[str, Any]]:
        return [pod for pod in watch.of({**labels, "spark-role": "driver"}) if is_ours(pod) == ours]

    def executors() -> list[dict[str, Any]]:
        return _executors(watch, drivers(), labels, ours=ours)

    def ended() -> bool:
        return any(terminated(pod) for pod in drivers())

    def gone() -> bool:
        return bool(executors()) and all(watch.is_gone(pod) for pod in executors())

    if watch.wait(lambda: ended() or gone(), SECONDS) and not ended():
        _let_go(place, drivers()[0])
    if not watch.wait(ended, SECONDS):
        return Side({"ended": {"driver": "has not ended"}}, {}, _story(place))
    (driver,) = drivers()
    watch.wait(lambda: all(watch.is_gone(pod) for pod in executors()), GOING)
    log = _log(place, driver)
    report = printed(log)
    for role, pods in (("driver", [driver]), ("executor", executors())):
        if pods:
            report.setdefault(role, {})["pod"] = facts(pods[0])
    states = {"deleted" if watch.is_gone(pod) else pod["status"]["phase"] for pod in executors()}
    report["ended"] = {**_ended(driver), "executors": sorted(states)}
    report["left"] = _left(place, driver, labels, ours=ours)
    _remove(place, driver, labels, ours=ours)
    return Side(report, _names(place, driver, executors(), labels), log)


def _remove(place: Place, driver: Mapping[str, Any], labels: Mapping[str, str], *, ours: bool) -> None:
    """Remove what a side has left: each Service would be some variables of every later pod."""
    selector = ",".join(f"{name}={value}" for name, value in labels.items())
    which = [KINDS, "-l", selector] if ours else ["pod", driver["metadata"]["name"]]
    place.cluster.try_kubectl("delete", *which, "-n", place.namespace, "--wait=false")


def _executors(
    watch: Watch, drivers: list[dict[str, Any]], labels: Mapping[str, str], *, ours: bool
) -> list[dict[str, Any]]:
    """The executors of a side; natively they have the driver's id, and a name that the program may change."""
    if ours:
        return [pod for pod in watch.of({**labels, "spark-role": "executor"}) if is_ours(pod)]
    ids = [pod["metadata"]["labels"]["spark-app-selector"] for pod in drivers]
    return [pod for one in ids for pod in watch.of({"spark-app-selector": one, "spark-role": "executor"})]


def _let_go(place: Place, driver: Mapping[str, Any]) -> None:
    """Tell a program that goes on after `main` that its executors are gone (see Ends.java)."""
    name = driver["metadata"]["name"]
    touch = ("-c", "spark-kubernetes-driver", "--", "touch", GO_ON)
    place.cluster.try_kubectl("exec", "-n", place.namespace, name, *touch)


def _log(place: Place, driver: Mapping[str, Any]) -> str:
    name = driver["metadata"]["name"]
    return place.cluster.try_kubectl(
        "logs", "-n", place.namespace, name, "-c", "spark-kubernetes-driver"
    ).stdout


def printed(log: str) -> dict[str, Any]:
    """Returns what the probe has printed.

    It tells of a stopped context only after its executors are gone (`_let_go`).
    """
    text = "".join(re.findall(r"^PROBE (.*)$", log, re.MULTILINE))
    report: dict[str, Any] = json.loads(text) if text else {"driver": {"said": "nothing"}}
    after = re.search(r"^AFTER (\w+)$", log, re.MULTILINE)
    return report | {"after main": {"context": after[1]}} if after else report


def _ended(driver: Mapping[str, Any]) -> dict[str, Any]:
    state = terminated(driver) or {}
    kept = ("exitCode", "signal", "reason", "message")
    return {name: state[name] for name in kept if name in state}


def _left(place: Place, driver: Mapping[str, Any], labels: Mapping[str, str], *, ours: bool) -> list[str]:
    """The kinds of the side's objects that are there when all has ended."""
    text = place.cluster.kubectl("get", KINDS, "-n", place.namespace, "-o", "json")
    found = set()
    for item in json.loads(text)["items"]:
        owners = [owner["name"] for owner in item["metadata"].get("ownerReferences", ())]
        own = item["metadata"].get("labels", {})
        if ours:
            is_its = labels.items() <= own.items()
        else:
            named = driver["metadata"]["name"]
            is_its = item["metadata"]["name"] == named or named in owners
        if is_its:
            found.add(f"{item['kind']} {own.get('spark-role', '')}".strip())
    return sorted(found)


def _names(
    place: Place,
    driver: Mapping[str, Any],
    executors: list[dict[str, Any]],
    labels: Mapping[str, str],
) -> dict[str, str]:
    names = {place.namespace: "NAMESPACE", driver["metadata"]["name"]: "DRIVER-POD"}
    names |= dict.fromkeys(labels.values(), "NAME")
    names |= {pod["metadata"]["name"]: "EXECUTOR-POD" for pod in executors}
    names |= {pod["spec"].get("nodeName", ""): "NODE" for pod in (driver, *executors)}
    names[driver["metadata"]["name"].removesuffix("-driver")] = "RUN"
    names |= {pod["metadata"]["name"].partition("-exec-")[0]: "PREFIX" for pod in executors}
    for label, word in (("sparkgen.dev/run", "RUN"), ("spark-app-selector", "APP-ID")):
        names |= {pod["metadata"]["labels"].get(label, ""): word for pod in (driver, *executors)}
    return {name: word for name, word in names.items() if name}


def _story(place: Place) -> str:
    return place.cluster.kubectl("get", "pods,jobs,events", "-n", place.namespace, "-o", "wide")
