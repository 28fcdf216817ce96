"""What tests say to Argo CD, as people do: commits, an Application, and what is read of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import APPLICATIONS, GO, Deployed, document, wait_until

from cluster.handle import Cluster
from sparkgen.document.configuration import FILE_NAME

NAMESPACE = "argocd"
NOWHERE = {"nodeSelector": {"sparkgen.dev/nowhere": "yes"}}
"""A driver that waits for a node forever: it is there, it can be killed, and it costs nothing."""

Value = dict[str, Any]


@dataclass(frozen=True)
class Repository:
    """A Git repository on this machine: documents in apps/, what is rendered of them in deploy/NAME/."""

    folder: Path

    def git(self, *arguments: str) -> str:
        """Run git here: its output."""
        settings = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")
        command = ["git", *settings, "-C", str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def with_shared_runtime(self, python: str) -> None:
        """Name only an image of Python: documents get the runtime in a ConfigMap."""
        (self.folder / FILE_NAME).write_text(f"pythonImage: {python}\n", encoding="utf-8")

    def commit(self, message: str) -> str:
        """Commit all that there is: the revision."""
        self.git("add", "--all")
        self.git("commit", "--allow-empty", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def path(self, name: str) -> Path:
        """Where an application's manifests are."""
        return self.folder / "deploy" / name

    def render(
        self, value: Mapping[str, Any] | str, *, target: str = "argocd", **environment: str
    ) -> list[str]:
        """Write a document and its manifests: the warnings. `environment` may name another sparkgen."""
        text = value if isinstance(value, str) else yaml.safe_dump(dict(value), sort_keys=False)
        name = yaml.safe_load(text)["metadata"]["name"]
        source = self.folder / "apps" / f"{name}.yaml"
        source.parent.mkdir(exist_ok=True)
        source.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "sparkgen", "render", str(source), "-o", str(self.path(name))]
        done = subprocess.run(
            [*command, "--target", target],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **environment},
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()

    def release(self, value: Mapping[str, Any] | str, message: str = "Change it") -> str:
        """Render and commit: the revision."""
        self.render(value)
        return self.commit(message)

    def rename(self, old: str, value: Mapping[str, Any]) -> str:
        """Commit an application under another name, in the folder that the old one is synced from."""
        new = str(value["metadata"]["name"])
        self.git("rm", "-rq", f"apps/{old}.yaml", f"deploy/{old}")
        self.render(value)
        self.path(new).rename(self.path(old))
        return self.commit(f"Call {old} {new}")

    def objects(self, name: str) -> list[Value]:
        """What is rendered of an application."""
        files = sorted(self.path(name).glob("*.yaml"))
        return [
            item
            for file in files
            if file.name != "kustomization.yaml"
            for item in yaml.safe_load_all(file.read_text(encoding="utf-8"))
        ]

    def run(self, name: str) -> str:
        """The name of the run that the rendered manifests start."""
        (job,) = (item for item in self.objects(name) if item["kind"] == "Job" and is_driver(item))
        return str(job["metadata"]["name"])


def is_driver(job: Value) -> bool:
    """Whether a Job is a driver's, and not one that tidies up."""
    return "sparkgen.dev/run" in job["metadata"]["labels"]


@dataclass(frozen=True)
class Application:
    """An Application of Argo CD, with self-heal and prune on, for one folder of a repository."""

    cluster: Cluster
    repository: Repository
    name: str
    namespace: str

    def manifest(self) -> Value:
        """The Application as an object."""
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {
                "name": self.id,
                "namespace": NAMESPACE,
                "finalizers": ["resources-finalizer.argocd.argoproj.io"],
            },
            "spec": {
                "project": "default",
                "source": {
                    "repoURL": self.repository.folder.as_uri(),
                    "path": f"deploy/{self.name}",
                    "targetRevision": "HEAD",
                },
                "destination": {"server": "https://kubernetes.default.svc", "namespace": self.namespace},
                "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
            },
        }

    @property
    def id(self) -> str:
        """Its name in Argo CD, which is one for the whole cluster."""
        return f"{self.namespace}-{self.name}"

    def create(self) -> None:
        """Tell Argo CD of it."""
        self.cluster.apply(self.manifest())

    def read(self) -> Value:
        """The Application, as it is now."""
        text = self.cluster.kubectl("get", "application", self.id, "-n", NAMESPACE, "-o", "json")
        return dict(json.loads(text))

    def health(self) -> str:
        """What Argo CD says of its health."""
        return str(self.read().get("status", {}).get("health", {}).get("status", ""))

    def refresh(self, kind: str = "normal") -> None:
        """Have Argo CD look at Git (`hard`: and render again), and wait until it has."""
        note = "argocd.argoproj.io/refresh"
        self.cluster.kubectl(
            "annotate", "application", self.id, "-n", NAMESPACE, f"{note}={kind}", "--overwrite"
        )
        wait_until(
            lambda: note not in self.read()["metadata"].get("annotations", {}), 60, f"{self.id} was refreshed"
        )

    def sync(self) -> None:
        """Sync now, as the button does, and wait for the end."""
        revision = self.repository.git("rev-parse", "HEAD")
        operation = {"operation": {"sync": {"prune": True, "revision": revision}}}
        before = self.read()["status"].get("operationState", {}).get("finishedAt")
        self.cluster.kubectl(
            *("patch", "application", self.id, "-n", NAMESPACE, "--type=merge"),
            *("--patch", json.dumps(operation)),
        )

        def finished() -> bool:
            found = self.read()
            state = found["status"].get("operationState", {})
            # Times have whole seconds: the operation of this very second has ended when none is left.
            return "operation" not in found and state.get("finishedAt", before) >= (before or "")

        wait_until(finished, 60, f"{self.id} was synced", self.story)
        assert self.read()["status"]["operationState"]["phase"] == "Succeeded", self.story()

    def synced(self, revision: str = "", seconds: float = 120) -> None:
        """Wait until Argo CD has synced the newest revision, and says that there is no difference."""
        revision = revision or self.repository.git("rev-parse", "HEAD")
        self.refresh()

        def done() -> bool:
            status = self.read().get("status", {})
            state, sync = status.get("operationState", {}), status.get("sync", {})
            return (
                sync.get("status") == "Synced"
                and sync.get("revision") == revision
                and state.get("phase") == "Succeeded"
            )

        wait_until(done, seconds, f"{self.id} is synced to {revision}", self.story)

    def differences(self) -> list[str]:
        """What Argo CD calls different from Git: objects, and with them the whole.

        Objects of earlier runs are listed, too (`requiresPruning`), but make no difference of the whole.
        """
        status = self.read()["status"]
        objects = [
            f"{item['kind']}/{item['name']}"
            for item in status.get("resources", [])
            if item.get("status") != "Synced" and not item.get("requiresPruning")
        ]
        return objects + [text for text in [status["sync"]["status"]] if text != "Synced"]

    def delete(self) -> None:
        """Delete it with all that it made, and wait until it is gone."""
        self.cluster.kubectl("delete", "application", self.id, "-n", NAMESPACE, "--timeout=120s")

    def run(self, run: str = "") -> Deployed:
        """The run that Git asks for, or the one of this name."""
        return Deployed(self.cluster, self.namespace, self.name, run or self.repository.run(self.name))

    def jobs(self) -> dict[str, str]:
        """Name -> UID of the application's Jobs."""
        found = self.cluster.objects("jobs", self.namespace, f"sparkgen.dev/application={self.name}")
        return {job["metadata"]["name"]: job["metadata"]["uid"] for job in found if is_driver(job)}

    def drivers(self) -> dict[str, str]:
        """UID -> run of the application's driver pods."""
        selector = f"sparkgen.dev/application={self.name},spark-role=driver"
        pods = self.cluster.objects("pods", self.namespace, selector)
        return {pod["metadata"]["uid"]: pod["metadata"]["labels"]["sparkgen.dev/run"] for pod in pods}

    def story(self) -> str:
        """All that helps to understand a failure."""
        status = self.read().get("status", {})
        kept = {
            key: status.get(key) for key in ("sync", "health", "operationState", "conditions", "resources")
        }
        pods = self.cluster.kubectl("get", "pods,jobs", "-n", self.namespace, "-o", "wide")
        return f"{yaml.safe_dump(kept)}\n{pods}"


def waiting(name: str, namespace: str, version: str, **spec: Any) -> Value:
    """An application whose driver waits for a node forever."""
    return in_namespace(document(name, version, "ends.py", driver=NOWHERE, **spec), namespace)


def in_namespace(value: Value, namespace: str) -> Value:
    """The document, for a namespace."""
    return {**value, "metadata": {**value["metadata"], "namespace": namespace}}


def scripts(cluster: Cluster, namespace: str) -> None:
    """The applications' programs, which documents mount; not in Git."""
    data = {path.name: path.read_text() for path in APPLICATIONS.glob("*.py")}
    metadata = {"name": "applications", "namespace": namespace}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def executor_names(run: Deployed) -> set[str]:
    """The names of a run's executors that are there."""
    selector = f"sparkgen.dev/run={run.run},spark-role=executor"
    return {pod["metadata"]["name"] for pod in run.cluster.objects("pods", run.namespace, selector)}


def creates_executors(run: Deployed, seconds: float = 240) -> None:
    """Wait until the run has created an executor that was not there when this was asked."""
    before = executor_names(run)
    wait_until(lambda: bool(executor_names(run) - before), seconds, f"{run.run} goes on", run.story)


def finish(run: Deployed) -> None:
    """Let a run of rounds.py end, whichever of the application's runs it is."""
    selector = f"sparkgen.dev/run={run.run},spark-role=driver"
    (pod,) = run.cluster.objects("pods", run.namespace, selector)
    container = ("-c", "spark-kubernetes-driver")
    run.cluster.kubectl(
        *("exec", "-n", run.namespace, pod["metadata"]["name"], *container, "--", "touch", GO)
    )


def stays(seconds: float, what: str, look: Any) -> None:
    """`look()` is what it was, for so long."""
    before, deadline = look(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(1)
        now = look()
        if now != before:
            pytest.fail(f"{what} has changed: {before} -> {now}")
