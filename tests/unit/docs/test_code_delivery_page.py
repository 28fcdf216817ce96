"""From a script on a laptop to what a controller syncs: the files and commands of the page, literally."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml

from tests.unit.cli.fake_registry import Registry, served

PAGE = Path(__file__).resolve().parents[3] / "docs" / "code-delivery.md"
REPOSITORY = "registry.example.com/data/etl"
PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Person"), ("EMAIL", "person@example.org"))
}


def blocks(title: str, language: str) -> list[str]:
    """The blocks of a language in a section of the page."""
    text = PAGE.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert found, f"{title} has no {language}"
    return found


def wheel(folder: Path) -> None:
    """The package of the page's requirements, in a folder that takes the place of PyPI."""
    folder.mkdir(parents=True)
    info = "six-1.17.0.dist-info"
    files = {
        "six.py": "def ensure_str(text):\n    return text\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: six\nVersion: 1.17.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / "six-1.17.0-py3-none-any.whl", "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)


def environment(folder: Path) -> dict[str, str]:
    """What a shell of the reader's has: sparkgen, git, an index of packages, and no login."""
    packages = {
        f"{tool}_{name}": value
        for tool in ("PIP", "UV")
        for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(folder / "index")))
    }
    homes = {"HOME": str(folder), "DOCKER_CONFIG": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, **packages, **homes, **PERSON, "PATH": path, "NO_PROXY": "localhost"}


def follow(script: str, folder: Path, variables: dict[str, str]) -> None:
    """Run a script line by line; it ends at the first command that fails."""
    done = subprocess.run(
        ["sh", "-euxc", script], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_of(folder: Path) -> str:
    """The run that the rendered files start."""
    job = yaml.safe_load((folder / "deploy/etl/job.yaml").read_text())
    return str(job["metadata"]["name"])


def write_project(folder: Path, repository: str) -> None:
    """The page's files, with one's own registry in the document."""
    title = "1. A script and its document"
    for text in [*blocks(title, "python"), *blocks(title, "text")[1:]]:
        file = folder / text.splitlines()[0].removeprefix("# ")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    document = blocks(title, "yaml")[0]
    assert REPOSITORY in document
    (folder / "app.yaml").write_text(document.replace(REPOSITORY, repository))


def test_the_page_leads_from_a_script_to_a_commit(tmp_path: Path) -> None:
    """CI finds nothing to say about it; a changed module is one new run, and no change is none."""
    folder, variables = tmp_path / "etl", environment(tmp_path)
    wheel(tmp_path / "index")
    remote = (
        "git init -q -b main . && git init -q --bare ../remote.git && git remote add origin ../remote.git"
    )
    commands = next(text for text in blocks("6. Run it", "sh") if "sparkgen push" in text)
    (check,) = (text for text in blocks("7. CI", "sh") if "--check" in text)
    folder.mkdir()
    with served(Registry()) as registry:
        write_project(folder, f"{registry.address}/data/etl")
        follow(f"{remote} && git config push.autoSetupRemote true", folder, variables)
        follow(commands, folder, variables)
        first, pushed = run_of(folder), len(registry.manifests)
        follow(check, folder, variables)
        follow(commands.replace("git commit", "git commit --allow-empty"), folder, variables)
        assert (run_of(folder), len(registry.manifests)) == (first, pushed) == (first, 2)
        module = folder / "lib" / "cleaning.py"
        module.write_text(module.read_text().replace("upper", "lower"))
        follow(commands, folder, variables)
        assert run_of(folder) != first
        assert len(registry.manifests) == 3  # the code again, and the packages as they were
    assert not subprocess.run(
        ["git", "status", "--porcelain"], cwd=folder, capture_output=True, check=True
    ).stdout
