"""From a script on a laptop to a run that Argo CD has synced: the page about it, followed to the letter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from argo import Application, Repository
from pages import blocks, follow, shell

from cluster.handle import Cluster
from cluster.registry import Registry
from sparkgen.image.runtime_files import FOLDER
from sparkgen.usecases import runtime

sys.path.insert(0, str(Path(__file__).parents[1] / "delivery"))

from project import offline, wheel

PAGE = "code-delivery.md"
REPOSITORY = "repository: registry.example.com/data/etl"
NAMESPACE = "namespace: analytics"


def test_from_a_script_on_a_laptop_to_a_synced_run(
    cluster: Cluster,
    repository: Repository,
    make: Callable[..., Application],
    plain_registry: Registry,
    restricted: str,
    tmp_path: Path,
) -> None:
    """The files as the page has them, with one's own registry and namespace; changed code is one new run.

    The folder that Argo CD syncs contains the runtime, too.
    """
    runtime.write(tmp_path / "runtime")  # here: the commands below reach only the cluster
    repository.with_shared_runtime(cluster.load_python())
    title = "1. A script and its document"
    for text in [*blocks(PAGE, title, "python"), *blocks(PAGE, title, "text")[1:]]:
        name = text.splitlines()[0].removeprefix("# ")
        (repository.folder / name).parent.mkdir(exist_ok=True)
        (repository.folder / name).write_text(text)
    document = blocks(PAGE, title, "yaml")[0]
    assert REPOSITORY in document
    own = f"repository: {plain_registry.address}/data/etl\n    insecure: true"
    small = "  driver: {memory: 600m, coreRequest: 100m}\n"
    assert NAMESPACE in document
    document = document.replace(NAMESPACE, f"namespace: {restricted}")
    document = document.replace(REPOSITORY, own).replace("    instances: 2\n", SMALL) + small
    (repository.folder / "app.yaml").write_text(document)

    package = "def ensure_str(text):\n    return text\n"
    wheel(tmp_path / "pypi" / "index", "six", "1.17.0", package)
    environment = {**shell(cluster, tmp_path), **offline(tmp_path / "pypi")}
    environment[FOLDER] = str(tmp_path / "runtime")
    remote = tmp_path / "remote.git"
    follow(f"git init -q --bare {remote}\ngit remote add origin {remote}", repository.folder, environment)
    follow("git config push.autoSetupRemote true", repository.folder, environment)

    commands = next(text for text in blocks(PAGE, "6. Run it", "sh") if "sparkgen push" in text)
    follow(commands, repository.folder, environment)
    application = make("etl")
    application.synced()
    first = application.run()
    assert first.wait() == "Complete", first.story()
    assert "[('DE', 2), ('FR', 1)]" in first.logs()

    (check,) = (text for text in blocks(PAGE, "7. CI", "sh") if "--check" in text)
    follow(check, repository.folder, environment)
    cleaning = repository.folder / "lib" / "cleaning.py"
    cleaning.write_text(cleaning.read_text().replace("upper()", "lower()"))
    follow(commands, repository.folder, environment)
    application.synced()
    second = application.run()
    assert second.run != first.run
    assert second.wait() == "Complete", second.story()
    assert "[('de', 2), ('fr', 1)]" in second.logs()
    assert set(application.jobs()) == {first.run, second.run}


SMALL = "    instances: 1\n    memory: 600m\n    coreRequest: 100m\n"
"""An executor for a small machine."""
