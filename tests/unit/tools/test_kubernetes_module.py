"""Another Kubernetes than the pinned one: what is asked for, and the module that is derived for it."""

from __future__ import annotations

import pytest

from common.cachedir import ToolError
from gotools import gotools, kubernetes_module

UPSTREAM = """module k8s.io/kubernetes

go 1.24.0

require (
\tgithub.com/a/b v1.2.3
\tk8s.io/api v0.0.0
)

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tk8s.io/kubelet => ./staging/src/k8s.io/kubelet
)
"""


@pytest.mark.parametrize(
    ("text", "version"),
    [("", None), ("1.34.4", "v1.34.4"), ("v1.30.4", "v1.30.4")],
)
def test_the_setting_is_a_version_with_or_without_its_v(text: str, version: str | None) -> None:
    """An empty variable counts as unset."""
    assert kubernetes_module.wanted({"SPARKGEN_KUBERNETES": text}) == version


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.34", "is no version of Kubernetes. Write one like 1.34.9"),
        ("latest", "is no version of Kubernetes"),
        ("1.34.0-rc.1", "is no version of Kubernetes"),
        ("1.29.9", "is too old: the test cluster needs 1.30 or newer"),
    ],
)
def test_what_is_no_version_is_told(text: str, message: str) -> None:
    """The message names the setting, and what would do."""
    with pytest.raises(ToolError, match=f"SPARKGEN_KUBERNETES='{text}' {message}"):
        kubernetes_module.wanted({"SPARKGEN_KUBERNETES": text})


def test_kubernetes_own_folders_become_published_modules() -> None:
    """Each part of v1.34.4 is the module of version v0.34.4; Go's line and the tools are there."""
    assert kubernetes_module.go_mod("v1.34.4", UPSTREAM, ["k8s.io/kubernetes/cmd/kubelet"]).splitlines() == [
        "module sparkgen.dev/tools/kubernetes",
        "go 1.24.0",
        "tool k8s.io/kubernetes/cmd/kubelet",
        "require k8s.io/kubernetes v1.34.4",
        "replace k8s.io/api => k8s.io/api v0.34.4",
        "replace k8s.io/kubelet => k8s.io/kubelet v0.34.4",
    ]


def test_a_go_mod_without_parts_is_refused() -> None:
    """Should Kubernetes change how it is put together, it is told, not built half."""
    with pytest.raises(ToolError, match="names no parts"):
        kubernetes_module.go_mod("v1.99.0", "module k8s.io/kubernetes\n", [])


def test_the_pinned_version_needs_no_derived_module() -> None:
    """Asked for by its number, it is built from the repository's own pins; other tools never change."""
    kubelet, etcd = gotools.find_tool("kubelet"), gotools.find_tool("etcd")
    pinned = gotools.read_module(kubelet)
    setting = {"SPARKGEN_KUBERNETES": pinned.version_of("k8s.io/kubernetes")}
    assert gotools.chosen_module(kubelet, setting) == pinned
    assert gotools.chosen_module(etcd, {"SPARKGEN_KUBERNETES": "1.34.4"}) == gotools.read_module(etcd)
