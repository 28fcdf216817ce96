"""A public home on this machine: a registry, a Python index and the files of a release, on loopback."""

from __future__ import annotations

import functools
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from succeeding import run

from cluster import registry
from gotools import gotools
from release import names
from sparkgen import __version__

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
USER = "team-a"
OFFLINE = '{"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json"}\n'
"""A configuration of cosign without any service (docs/verify.md)."""


@dataclass(frozen=True, slots=True)
class Home:
    """The places. `web` is the address that has the index and the files; `folder` has everything."""

    folder: Path
    address: str
    web: str

    @property
    def registry(self) -> str:
        """What stands for the registry in release.toml."""
        return f"{self.address}/project"

    @property
    def environment(self) -> Mapping[str, str]:
        """Where programs find the tools, the certificate, and places for what they write."""
        homes = {
            f"HELM_{name}_HOME": str(self.folder / f"helm-{name}") for name in ("CACHE", "CONFIG", "DATA")
        }
        return {
            **homes,
            "PATH": f"{self.folder / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.folder),
            "DOCKER_CONFIG": str(self.folder),
            "REGISTRY_AUTH_FILE": str(self.folder / "config.json"),
            "SSL_CERT_FILE": str(self.folder / "registry" / "pki" / "ca.crt"),
            "COSIGN_PASSWORD": "",
        }

    def localized(self, text: str) -> str:
        """A text with these places instead of those in release.toml."""
        public = names.read()
        for old, new in (
            (public.registry, self.registry),
            (public.index, f"{self.web}/simple/"),
            (f"{public.repository}/releases", f"{self.web}/releases"),
        ):
            text = text.replace(old, new)
        return text

    def publish(self, made: Path) -> None:
        """Publish and sign what `make release` made, by the scripts of the workflow, and by a key."""
        work = self.folder / "work"
        shutil.copytree(made, work / "release")
        run("cosign", "generate-key-pair", folder=self.folder, environment=self.environment)
        (self.folder / "offline.json").write_text(OFFLINE, encoding="utf-8")
        key, services = self.folder / "cosign.key", self.folder / "offline.json"
        variables = {
            **self.environment,
            "REGISTRY": self.registry,
            "SIGN_WITH": f"--yes --key={key} --signing-config={services}",
            "TOKEN": registry.PASSWORDS[USER][0],
            "GITHUB_ACTOR": USER,
            "GITHUB_REF_NAME": f"v{__version__}",
        }
        for name in ("Publish and sign image and chart", "Sign the files"):
            run("bash", "-eo", "pipefail", "-c", script(name), folder=work / "release", environment=variables)
        self._serve_files(work / "release")

    def _serve_files(self, release: Path) -> None:
        """What the workflow leaves to other programs: the files of a release, and the Python index."""
        releases = self.folder / "web" / "releases" / "download"
        releases.mkdir(parents=True)
        shutil.copytree(release, releases / f"v{__version__}")
        simple = self.folder / "web" / "simple"
        wheels = self.folder / "wheels"
        pip = (sys.executable, "-I", "-m", "pip", "download", "--quiet", "--disable-pip-version-check")
        locked = ("--require-hashes", "--requirement", ROOT / "requirements" / "sparkgen.txt")
        run(*pip, "--only-binary=:all:", "--dest", wheels, *locked)
        for wheel in [*wheels.glob("*.whl"), *release.glob("*.whl")]:
            project = simple / wheel.name.partition("-")[0].lower().replace("_", "-")
            project.mkdir(parents=True, exist_ok=True)
            shutil.copy(wheel, project)


def script(name: str) -> str:
    """The script of a step of the workflow."""
    jobs: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    (found,) = (step for job in jobs.values() for step in job["steps"] if step.get("name") == name)
    return str(found["run"])


@contextmanager
def home(folder: Path) -> Iterator[Home]:
    """The places, empty; they end with the block."""
    (folder / "bin").mkdir(parents=True)
    for name in ("cosign", "helm"):
        (folder / "bin" / name).symlink_to(gotools.ensure(name))
    (folder / "bin" / "python3").symlink_to(sys.executable)
    (folder / "web").mkdir()
    handler = functools.partial(_Quiet, directory=str(folder / "web"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with registry.on_loopback(folder / "registry") as address:
            yield Home(folder, address, f"http://127.0.0.1:{server.server_address[1]}")
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of its base class
        """Write no line for each request."""
