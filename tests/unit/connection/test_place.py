"""Which cluster and namespace are meant: kubectl's rules, and words where nothing fits them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkgen.cluster import ClusterError, Place
from sparkgen.cluster.place import Chosen, choose

Kubeconfig = Callable[..., Path]
SERVER = "https://cluster.example"


def test_the_current_context_and_its_namespace(kubeconfig: Kubeconfig) -> None:
    """Nothing is said on the command line: as kubectl does."""
    file = kubeconfig(SERVER, {"dev": "team-a", "prod": "team-b"}, current="prod")
    assert choose(Place(), {"KUBECONFIG": str(file)}) == Chosen(str(file), "prod", "team-b")


def test_the_command_line_comes_first(kubeconfig: Kubeconfig) -> None:
    """--kubeconfig over KUBECONFIG, --context over the current one, --namespace over the context's."""
    file = kubeconfig(SERVER, {"dev": "team-a", "prod": ""}, current="prod")
    place = Place(str(file), "dev", "mine")
    assert choose(place, {"KUBECONFIG": "/nowhere"}) == Chosen(str(file), "dev", "mine")
    assert choose(Place(str(file)), {}).namespace == "default"


def test_several_files_are_merged_and_missing_ones_left_out(kubeconfig: Kubeconfig) -> None:
    """KUBECONFIG is a list; the first file that says something is right."""
    one = kubeconfig(SERVER, {"dev": "team-a"}, name="one")
    two = kubeconfig(SERVER, {"dev": "other", "prod": "team-b"}, current="prod", name="two")
    environment = {"KUBECONFIG": os.pathsep.join([str(one), "/nowhere", str(two)])}
    assert choose(Place(), environment).namespace == "team-b"
    assert choose(Place(context="dev"), environment).namespace == "team-a"


def test_inside_of_a_pod_it_is_the_pods_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no kubeconfig is; the namespace is the pod's."""
    namespace = tmp_path / "namespace"
    namespace.write_text("analytics\n")
    monkeypatch.setattr("sparkgen.cluster.place.POD_NAMESPACE", namespace)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert choose(Place(), {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}).namespace == "analytics"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place(context="prd"), "there is no context prd: did you mean prod?"),
        (Place(context="elsewhere"), "there is no context elsewhere: {file} has dev, prod"),
        (Place(), "no current context: choose one with --context; {file} has dev, prod"),
        (Place("/no/such/file"), "--kubeconfig /no/such/file: there is no such file"),
    ],
)
def test_what_does_not_fit_is_said(kubeconfig: Kubeconfig, place: Place, message: str) -> None:
    """A wrong context, none at all, a file that is not there."""
    file = kubeconfig(SERVER, {"dev": "", "prod": ""})
    with pytest.raises(ClusterError) as caught:
        choose(place, {"KUBECONFIG": str(file)})
    assert str(caught.value) == message.format(file=file)


def test_no_cluster_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says where it was looked for."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(
        ClusterError, match=r"no cluster is configured: there is no ~/\.kube/config\. Name a kubeconfig"
    ):
        choose(Place(), {})
    with pytest.raises(ClusterError, match="no cluster is configured: no file in KUBECONFIG=/nowhere exists"):
        choose(Place(), {"KUBECONFIG": "/nowhere"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not valid YAML"),
        ("- a", "must be a mapping"),
        ("a: \xff", "is not valid YAML"),
        ("a: 2026-99-99", "is not valid YAML: month must be in 1..12"),
        ("a: !!timestamp x", "is not valid YAML: a tag does not fit its value"),
    ],
)
def test_a_kubeconfig_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    """Whatever stands in the file, the words name it."""
    file = tmp_path / "kubeconfig"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ClusterError, match=f"the kubeconfig {file}.*{message}"):
        choose(Place(str(file)), {})
