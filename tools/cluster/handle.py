"""The cluster that a test uses: this program's own, or the one in KUBECONFIG."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cluster import audit, images, network, nodes, notebook_image, r_image, runtime_image
from cluster.audit import Call
from cluster.ociimage import Image
from cluster.plan import LAYOUT, NAME, NODES
from common.cachedir import ToolError
from gotools import gotools
from sparkgen import contract


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster. `own`: it is this program's cluster; only this one has faults and audit logs."""

    kubeconfig: Path
    own: bool

    def kubectl(self, *arguments: str, input_text: str | None = None, seconds: float = 120) -> str:
        """Run kubectl. Returns its standard output. Raises ToolError with its standard error if it fails."""
        done = self.try_kubectl(*arguments, input_text=input_text, seconds=seconds)
        if done.returncode:
            raise ToolError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def try_kubectl(
        self, *arguments: str, input_text: str | None = None, seconds: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl. Returns the completed process, whatever its exit code is."""
        return subprocess.run(
            self._command(arguments),
            input=input_text,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )

    @contextmanager
    def following(self, *arguments: str, seconds: float) -> Iterator[Iterator[str]]:
        """The lines of a kubectl that keeps running (`get --watch`), as they come, for at most `seconds`.

        Use one process for a whole wait: starting kubectl for each check uses a large part of a core.
        """
        process = subprocess.Popen(self._command(arguments), stdout=subprocess.PIPE, text=True)
        alarm = threading.Timer(seconds, process.kill)
        alarm.start()
        try:
            yield (line.rstrip("\n") for line in process.stdout or ())
        finally:
            alarm.cancel()
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _command(self, arguments: Iterable[str]) -> list[str]:
        prefix = network.enter(NAME) if self.own else []
        return [*prefix, str(gotools.ensure("kubectl")), f"--kubeconfig={self.kubeconfig}", *arguments]

    def apply(self, *objects: Mapping[str, Any]) -> None:
        """Create or change objects."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "--server-side", "-f", "-", input_text=json.dumps(items))

    def objects(self, kind: str, namespace: str, selector: str = "") -> list[dict[str, Any]]:
        """The objects of a kind in a namespace."""
        text = self.kubectl("get", kind, "-n", namespace, "-l", selector, "-o", "json")
        return list(json.loads(text)["items"])

    def load_spark(self, tags: Iterable[str]) -> None:
        """Load the Spark images of these tags onto every node; other clusters pull them."""
        if self.own:
            self.load(images.spark_images(tags))

    def load_runtime(self) -> None:
        """Load the runtime image onto every node; other clusters must get it from a registry."""
        if self.own:
            self.load({runtime_image.NAME: runtime_image.runtime()})

    def load_python(self) -> str:
        """Load an image of Python onto every node (others pull the official one). Returns its name."""
        if not self.own:
            return contract.PYTHON_IMAGE
        self.load({runtime_image.PYTHON: images.debian(runtime_image.PYTHON_PACKAGES)})
        return runtime_image.PYTHON

    def load_spark_with_runtime(self, version: str) -> str:
        """Load Spark with the runtime onto every node (other clusters pull it). Returns the image's name."""
        name = f"{runtime_image.REPOSITORY_WITH_SPARK}:{version}"
        if self.own:
            self.load({name: runtime_image.spark_with_runtime(version)})
        return name

    def load_spark_with_archive(self, versions: Iterable[str]) -> None:
        """Load Spark with the class archive onto every node; other clusters do not have it."""
        if self.own:
            self.load(
                {
                    f"{runtime_image.REPOSITORY_WITH_ARCHIVE}:{version}": runtime_image.spark_with_archive(
                        version
                    )
                    for version in versions
                }
            )

    def load_registry(self) -> None:
        """Load CNCF distribution's image onto every node; other clusters pull it."""
        if self.own:
            below = images.debian(runtime_image.PYTHON_PACKAGES)
            self.load({images.REGISTRY: images.registry(below)})

    def load_rclone(self) -> None:
        """Load rclone's image onto every node; other clusters pull it."""
        if self.own:
            self.load({images.RCLONE: images.rclone()})

    def load_notebook(self, version: str) -> str:
        """Load Spark with JupyterLab onto every node (other clusters pull it). Returns the image's name."""
        name = f"{notebook_image.REPOSITORY}:{version}"
        if self.own:
            self.load({name: notebook_image.spark_notebook(version)})
        return name

    def load_r(self, version: str) -> str:
        """Load Spark with R onto every node (other clusters pull it). Returns the image's name."""
        name = f"{r_image.REPOSITORY}:{version}"
        if self.own:
            self.load({name: r_image.spark_with_r(version)})
        return name

    def load(self, wanted: Mapping[str, Image]) -> None:
        """Load images onto every node."""
        with ThreadPoolExecutor() as pool:  # each node unpacks its own copy
            list(pool.map(lambda node: nodes.load_images(LAYOUT, node, wanted), NODES))

    def calls(self, namespace: str, account: str, since: datetime | None = None) -> list[Call]:
        """The API calls of a service account, from `since` (with a time zone) on."""
        with LAYOUT.audit_log.open() as lines:
            return audit.made_by(audit.parse(lines), namespace, account, since)
