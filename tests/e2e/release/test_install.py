"""A release is published by the scripts of its workflow, then verified and installed as docs/verify.md says.

On this machine, with a key. A signature by the identity of the workflow exists only on GitHub.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path

import pages
import public_home
import pytest
from public_home import Home
from succeeding import objects, run

from release import archives, names
from sparkgen import __version__

EXAMPLE = Path(__file__).parents[3] / "examples" / "python-pi" / "app.yaml"
TEMPLATE = "helm template --no-hooks --namespace default python-pi"
WHEEL = f"sparkgen-{__version__}-py3-none-any.whl"
CHART = f"spark-app-{__version__}.tgz"
BUNDLE = "provenance.sigstore.json"
SECTIONS = ("Fetch the provenance", "Install the Python package", "Verify the image and the chart")


@pytest.fixture(scope="module")
def home(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A public home with this release."""
    with public_home.home(tmp_path_factory.mktemp("home") / "home") as it:
        it.publish(made)
        yield it


@pytest.fixture(scope="module")
def installed(home: Home) -> Path:
    """The folder in which the page was followed, with a fresh environment in `venv`."""
    folder = home.folder / "user"
    run(sys.executable, "-m", "venv", folder / "venv")
    shutil.copy(home.folder / "cosign.pub", folder)
    told = follow(home, folder, page(home))
    assert told.count("verified: ") == 2
    return folder


def page(home: Home) -> str:
    """All commands of the page, for a release that was signed with a key."""
    return signed_by_key() + home.localized("".join(pages.section("verify.md", one) for one in SECTIONS))


def signed_by_key() -> str:
    """The lines of the page for a release that was signed with a key."""
    return pages.blocks("verify.md", "Say who signs", "sh")[1]


def definitions(home: Home) -> str:
    """The commands that the page defines; the provenance is there already."""
    fetched = home.localized(pages.section("verify.md", SECTIONS[0]))
    return f"curl() {{ :; }}\n{signed_by_key()}{fetched}"


def follow(home: Home, folder: Path, script: str) -> str:
    """The output of a script in the user's shell, whose pip is that of the fresh environment."""
    path = f"{folder / 'venv' / 'bin'}:{home.environment['PATH']}"
    environment = {**home.environment, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return run("sh", "-euc", script, folder=folder, environment=environment)


def refused(home: Home, folder: Path, command: str) -> str:
    """What cosign says about something that must not pass."""
    done = subprocess.run(
        ["sh", "-euc", f"{definitions(home)}\n{command}"],
        cwd=folder,
        env=dict(home.environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode != 0, done.stdout
    return done.stderr


def test_a_published_release_is_verified_and_installed(home: Home, installed: Path, made: Path) -> None:
    """As the page says, and nothing else passes. One test, because all of it needs one release."""
    works(home, installed)
    image_is_that_of_the_release(home, made, installed)
    what_was_changed_is_refused(home, installed)
    another_version_is_refused(home, installed)
    a_shell_that_goes_on_verifies_nothing(home, installed)
    another_key_is_refused(home, installed)


def works(home: Home, installed: Path) -> None:
    """Wheel and chart from these places alone render the same objects."""
    rendered = follow(home, installed, f"sparkgen render -q {EXAMPLE}")
    templated = follow(home, installed, f"{TEMPLATE} -f {EXAMPLE} spark-app-{__version__}.tgz")
    assert objects(templated) == objects(rendered)
    listed = json.loads(follow(home, installed, "pip list --format=json"))
    assert {one["name"]: one["version"] for one in listed}["sparkgen"] == __version__


def image_is_that_of_the_release(home: Home, made: Path, installed: Path) -> None:
    """Byte for byte, by its digest, which the provenance names; its bill of materials came with it."""
    (archive,) = made.glob("*.oci.tar")
    digest = archives.image_digest(archive)
    image = f"docker://{home.registry}/sparkgen-runtime:{__version__}"
    inspect = ("skopeo", "inspect", "--format", "{{.Digest}}", image)
    assert run(*inspect, environment=home.environment).strip() == digest
    told = json.loads((made / "provenance.json").read_text("utf-8"))
    subjects = {one["name"]: one["digest"]["sha256"] for one in told["subject"]}
    assert f"sha256:{subjects[names.read().image]}" == digest
    envelope = json.loads((installed / "runtime.bom.json").read_text("utf-8"))
    statement = json.loads(b64decode(envelope["payload"]))
    parts = {part["name"] for part in statement["predicate"]["components"]}
    assert {"python3-minimal", "urllib3", "sparkgen-scheduler_2.13"} <= parts


def what_was_changed_is_refused(home: Home, installed: Path) -> None:
    """A wheel or a chart with one byte more, another provenance, and an image that nobody signed."""
    folder = shutil.copytree(installed, home.folder / "changed", ignore=shutil.ignore_patterns("venv"))
    for name in (WHEEL, CHART):
        with (folder / name).open("ab") as file:
            file.write(b"\0")
        assert "do not match digests in statement" in refused(home, folder, f"released {name}")
    (folder / BUNDLE).write_text(renamed((folder / BUNDLE).read_text("utf-8")), encoding="utf-8")
    shutil.copy(installed / WHEEL, folder)
    assert "accepted signatures do not match" in refused(home, folder, f"released {WHEEL}")
    chart, other = (f"{home.registry}/{name}:{__version__}" for name in ("charts/spark-app", "other"))
    run("skopeo", "copy", f"docker://{chart}", f"docker://{other}", environment=home.environment)
    assert "no signatures found" in refused(home, folder, f"signed verify {other}")


def renamed(bundle: str) -> str:
    """A bundle whose statement somebody has changed after it was signed."""
    value = json.loads(bundle)
    envelope = value["dsseEnvelope"]
    statement = b64decode(envelope["payload"]).replace(b"slsa.dev", b"slsa.DEV")
    return json.dumps({**value, "dsseEnvelope": {**envelope, "payload": b64encode(statement).decode()}})


def another_version_is_refused(home: Home, installed: Path) -> None:
    """A signed release of another version is not the one that was asked for."""
    told = refused(home, installed, f"VERSION=0.0.9\nreleased {WHEEL} && echo passed >&2")
    assert "passed" not in told


def a_shell_that_goes_on_verifies_nothing(home: Home, installed: Path) -> None:
    """A person's shell goes on after a failed command: what was changed is neither installed nor verified."""
    for program, changed in (("pip", WHEEL), ("helm", CHART), ("curl", BUNDLE)):
        folder = shutil.copytree(
            installed, home.folder / f"pasted-{program}", ignore=shutil.ignore_patterns("venv")
        )
        text = (folder / changed).read_bytes()
        (folder / changed).write_bytes(renamed(text.decode()).encode() if program == "curl" else text + b"\0")
        fakes = folder / "venv" / "bin"
        fakes.mkdir(parents=True)
        for name in {"pip", program}:
            (fakes / name).write_text('#!/bin/sh\n[ "$1" != install ] || touch installed\n', encoding="utf-8")
            (fakes / name).chmod(0o755)
        path = f"{fakes}:{home.environment['PATH']}"
        done = subprocess.run(
            ["sh"],
            input=page(home),
            cwd=folder,
            env={**home.environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ((folder / "installed").exists(), done.stdout.count("verified: ")) == (
            (False, 1) if program == "pip" else (True, 1) if program == "helm" else (False, 0)
        ), done.stderr


def another_key_is_refused(home: Home, installed: Path) -> None:
    """Whoever else signs the same bytes is not the project."""
    folder = shutil.copytree(installed, home.folder / "stranger", ignore=shutil.ignore_patterns("venv"))
    (folder / "cosign.pub").unlink()
    run("cosign", "generate-key-pair", folder=folder, environment=home.environment)
    assert "accepted signatures do not match" in refused(home, folder, f"released {WHEEL}")
    for name in ("sparkgen-runtime", "charts/spark-app"):
        image = f"{home.registry}/{name}:{__version__}"
        assert "accepted signatures do not match" in refused(home, folder, f"signed verify {image}")
