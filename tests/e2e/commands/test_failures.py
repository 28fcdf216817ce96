"""What every command says where there is no cluster, no such context, no right, nothing, or too much."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from cluster.handle import Cluster
from tests.e2e.commands.acting import account, on, scripts, write

NAMED = {
    "run": ("app",),
    "wait": ("app",),
    "status": ("app",),
    "logs": ("app",),
    "kill": ("app", "--yes"),
    "ui": ("app",),
    "history": ("app",),
    "delete": ("app", "--yes"),
}
"""The commands that take an application of the cluster, and their arguments."""
EVERY = {"apply": ("app.yaml",), **NAMED}
NOWHERE = "https://127.0.0.1:9"
"""Nobody listens there."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to fail: the commands that can, what is given to them besides, and words of what they say."""

    commands: dict[str, tuple[str, ...]]
    words: tuple[str, ...]
    options: tuple[str, ...] = ()
    kubeconfig: Path | None = None


def elsewhere(cluster: Cluster, folder: Path) -> Path:
    """The kubeconfig with an address at which no cluster is."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    for one in config["clusters"]:
        one["cluster"]["server"] = NOWHERE
    path = folder / "elsewhere"
    path.write_text(yaml.safe_dump(config))
    return path


def test_no_cluster_no_context_no_right_and_nothing_there(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """Each command ends with 2, prints no data, says what to do; test_apply.py has apply without rights."""
    write(tmp_path)
    sparkgen = on(cluster, namespace, tmp_path)
    little = {"apiGroups": [""], "resources": ["limitranges"], "verbs": ["get"]}
    somebody = account(cluster, namespace, tmp_path, little)
    silent = (
        f"{NOWHERE} does not answer (",
        "check that the cluster runs",
        "choose another one with --context",
    )
    ways = (
        Way(EVERY, silent, kubeconfig=elsewhere(cluster, tmp_path)),
        Way(EVERY, ("there is no context nowhere",), ("--context", "nowhere")),
        Way(NAMED, (f"cannot list Jobs in {namespace}", "Ask for this permission"), kubeconfig=somebody),
        Way(NAMED, (f"there is no application app in {namespace}", "check --namespace and --context")),
    )

    def unexpected(way: Way, name: str) -> str:
        done = sparkgen(name, *way.commands[name], *way.options, kubeconfig=way.kubeconfig)
        well = (done.returncode, done.stdout) == (2, "") and all(word in done.stderr for word in way.words)
        return "" if well else f"{name}, {way.words[0]}: {done.returncode} {done.stdout}{done.stderr}"

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(unexpected, way, name) for way in ways for name in way.commands]
        assert [text for one in asked if (text := one.result())] == []


def test_of_several_runs_one_is_chosen(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """Two that wait for a node: none is killed unless it is named, and a name of none is told of both."""
    scripts(cluster, namespace)
    sparkgen = on(cluster, namespace, tmp_path)
    write(tmp_path, driver={"coreRequest": "900"})
    applied = sparkgen("apply", "app.yaml", "-q", "-o", "name")
    assert applied.returncode == 0, applied.stderr
    job = applied.stdout.splitlines()[-1]
    old, new = job.removeprefix("job.batch/"), sparkgen("run", "app", "-q").stdout.strip()
    assert set(sparkgen("history", "app", "-o", "name").stdout.split()) == {job, f"job.batch/{new}"}
    several = sparkgen("kill", "app", "--yes")
    assert (several.returncode, several.stdout) == (2, "")
    assert "several runs of app are running: " in several.stderr
    assert all(name in several.stderr for name in (old, new, "choose one with --run"))
    none = sparkgen("wait", "app", "--run", "app-none")
    assert (none.returncode, f"app has no run app-none in {namespace}; it has" in none.stderr) == (2, True)
    assert all(name in none.stderr for name in (old, new))
    killed = sparkgen("kill", "app", "--run", old, "--yes")
    assert (killed.returncode, killed.stdout) == (0, f"{job} killed\n"), killed.stderr
