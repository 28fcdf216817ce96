"""A project on this machine: its files, its document, and a registry to which it is pushed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import yaml
from deployed import SMALL, Deployed, spark_image

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from cluster.runtime_image import CONFIGURED
from sparkgen import contract

SPARKGEN = str(Path(sys.executable).with_name("sparkgen"))
REPOSITORY = "team/etl"

MAIN = """
import sys
import cleaning, helpers, pinned
from pyspark import SparkFiles
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
context = spark.sparkContext


def told(where, read):
    return " ".join([where, cleaning.NAME, cleaning.more(), helpers.NAME, pinned.NAME, *read])


def on_executor(_):
    import cleaning, helpers, pinned

    names = ["numbers.csv", "data/inner.txt"]
    read = [open(name).read().strip() for name in names]
    read.append(open(SparkFiles.get("numbers.csv")).read().strip())
    return [" ".join(["executor", cleaning.NAME, cleaning.more(), helpers.NAME, pinned.NAME, *read])]


loader = context._jvm.java.lang.Thread.currentThread().getContextClassLoader()
marker = "no" if loader.getResource("marker.txt") is None else "marker"
read = [open(SparkFiles.get(name)).read().strip() for name in ("numbers.csv", "data/inner.txt")]
print(told("driver", [*read, marker]), flush=True)
for line in sorted(set(context.parallelize(range(4), 4).mapPartitions(on_executor).collect())):
    print(line, flush=True)
"""
FILES = {
    "jobs/etl.py": MAIN,
    "lib/cleaning/__init__.py": "from cleaning.parts import more\n\nNAME = 'cleaning-1'\n",
    "lib/cleaning/parts.py": "def more():\n    return 'parts'\n",
    "helpers.py": "NAME = 'helpers'\n",
    "conf/numbers.csv": "42\n",
    "requirements.txt": "pinned==1.0\n",
}
DEPS = {
    "pyFiles": ["./lib", "./helpers.py"],
    "files": ["./conf/*.csv"],
    "jars": ["./jars"],
    "archives": ["./data.zip#data"],
    "requirements": "./requirements.txt",
    "pythonVersion": "3.10",
}
DRIVER = "driver cleaning-1 parts helpers pinned-1.0 42 inner marker"
EXECUTOR = "executor cleaning-1 parts helpers pinned-1.0 42 inner 42"


def zipped(files: Mapping[str, str]) -> bytes:
    """A zip with these files."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def wheel(
    folder: Path, name: str = "pinned", version: str = "1.0", text: str = "NAME = 'pinned-1.0'\n"
) -> None:
    """A package of one file, in a folder that takes the place of PyPI."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    (folder / f"{name}-{version}-py3-none-any.whl").write_bytes(zipped({**files, f"{info}/RECORD": record}))


def offline(folder: Path) -> dict[str, str]:
    """Variables by which packages come from `folder`/index, and are kept in `folder`/cache."""
    index = str(folder / "index")
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": index,
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": index,
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


class Store(Protocol):
    """What a project is pushed to, and pulled from: a registry of the tests, or a staging server."""

    @property
    def address(self) -> str:
        """What the names of its images begin with, for pods and nodes."""

    @property
    def push_address(self) -> str:
        """The same for `sparkgen push`."""

    @property
    def plain(self) -> bool:
        """Whether it speaks plain HTTP, and asks nobody for a password."""

    @property
    def authority(self) -> Path | None:
        """The file with the authority that vouches for it; None with plain HTTP."""

    def config_json(self, user: str) -> str:
        """The config.json of docker with the password of a user."""


def needed(namespace: str, registry: Store, user: str = "reader") -> list[dict[str, Any]]:
    """The Secret and the ConfigMap that the documents name."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "registry", "namespace": namespace},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": registry.config_json(user)},
    }
    if registry.authority is None:
        return [secret]
    authority = {"ca.crt": registry.authority.read_text()}
    return [
        secret,
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "registry-ca", "namespace": namespace},
            "data": authority,
        },
    ]


@dataclass(frozen=True)
class Project:
    """Files in a folder, and what is done with them as a person does."""

    folder: Path
    registry: Store
    cluster: Cluster
    namespace: str
    repository: str = REPOSITORY

    @property
    def document(self) -> Path:
        """Its document."""
        return self.folder / "app.yaml"

    def write(self, version: str, mount: str = "fetch", **spec: Any) -> None:
        """Write the project, and its document."""
        for name, text in FILES.items():
            self.change(name, text)
        (self.folder / "jars").mkdir(exist_ok=True)
        (self.folder / "jars" / "marker.jar").write_bytes(zipped({"marker.txt": "marker"}))
        (self.folder / "data.zip").write_bytes(zipped({"inner.txt": "inner\n"}))
        wheel(self.folder / "index")
        delivery: dict[str, Any] = {
            "repository": f"{self.registry.address}/{self.repository}",
            "mount": mount,
        }
        if self.registry.push_address != self.registry.address:
            delivery["pushRepository"] = f"{self.registry.push_address}/{self.repository}"
        if self.registry.plain:
            delivery["insecure"] = True
        else:
            delivery["pullSecret"] = "registry"
            if mount == "fetch":
                delivery["caConfigMap"] = {"name": "registry-ca", "key": "ca.crt"}
        self.cluster.apply(*needed(self.namespace, self.registry))
        self.describe(
            {
                "type": "Python",
                "sparkVersion": version,
                "image": spark_image(version),
                "imagePullPolicy": "IfNotPresent",
                "mainApplicationFile": "./jobs/etl.py",
                "deps": DEPS,
                "driver": SMALL,
                "executor": {**SMALL, "instances": 2},
                **spec,
                "delivery": {**delivery, **spec.get("delivery", {})},
            }
        )

    def describe(self, spec: Mapping[str, Any]) -> None:
        """Write the document."""
        whole = {
            "apiVersion": "sparkgen.dev/v1alpha1",
            "kind": "SparkApplication",
            "metadata": {"name": "etl", "namespace": self.namespace},
            "spec": dict(spec),
        }
        self.document.write_text(yaml.safe_dump(whole, sort_keys=False))

    def change(self, name: str, text: str) -> None:
        """Write one of its files."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def push(self) -> str:
        """`sparkgen push`, where the registry can be reached; what it says."""
        config = self.folder / "docker"
        config.mkdir(exist_ok=True)
        (config / "config.json").write_text(
            json.dumps({"auths": {}}) if self.registry.plain else self.registry.config_json("team-a")
        )
        environment = {**os.environ, **offline(self.folder), "DOCKER_CONFIG": str(config)}
        command = [*network.enter(NAME), SPARKGEN, "push", str(self.document)]
        if self.registry.authority is not None:
            command += ["--ca-file", str(self.registry.authority)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def told(self, application: Deployed) -> list[str]:
        """What the program has printed."""
        return [line for line in application.logs().splitlines() if line.startswith(("driver ", "executor "))]

    def artifact(self, name: str = "code") -> dict[str, Any]:
        """What the lock says of an artifact."""
        lock = yaml.safe_load((self.folder / "app.lock.yaml").read_text())
        return next(one for one in lock["spec"]["artifacts"] if one["name"] == name)

    def render(self) -> str:
        """The manifests, by the command line."""
        command = [SPARKGEN, "render", "-q", str(self.document.absolute())]
        done = subprocess.run(command, cwd=CONFIGURED, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def deploy(self) -> Deployed:
        """Render and apply it."""
        manifests = self.render()
        self.cluster.kubectl("apply", "-f", "-", input_text=manifests)
        workload = next(one for one in yaml.safe_load_all(manifests) if one["kind"] == "Job")
        labels = workload["spec"]["template"]["metadata"]["labels"]
        return Deployed(self.cluster, self.namespace, "etl", labels[contract.LABEL_RUN])
