"""Custom resource definitions that examples or rendered objects use, from their Go modules into the cache.

The definitions are files of the modules; nothing is built. A module is fetched once, and its sum is checked
against the pin here, as go.sum would.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from gotools import golang
from k8s import volcano

_OLDEST_GO = "1.21"
"""Fetching needs no newer one."""


@dataclass(frozen=True, slots=True)
class Module:
    """A Go module, the sum of its files as go.sum has it, and the definitions in it."""

    path: str
    version: str
    sum: str
    files: tuple[str, ...]


MODULES = (
    Module(
        "github.com/external-secrets/external-secrets",
        "v1.3.2",
        "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
        (
            "config/crds/bases/external-secrets.io_externalsecrets.yaml",
            "config/crds/bases/external-secrets.io_secretstores.yaml",
        ),
    ),
    Module(
        "github.com/bitnami-labs/sealed-secrets",
        "v0.40.0",
        "h1:rvCP35JL8ZV5LNA2SrwNR6iLyoM3ulrSFWN0lBtYEYI=",
        ("helm/sealed-secrets/crds/bitnami.com_sealedsecrets.yaml",),
    ),
    Module(
        "sigs.k8s.io/gateway-api",
        "v1.4.0",
        "h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ=",
        (
            "config/crd/standard/gateway.networking.k8s.io_grpcroutes.yaml",
            "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
        ),
    ),
    Module(
        "sigs.k8s.io/kueue",
        "v0.17.0",
        "h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I=",
        (
            "config/components/crd/bases/kueue.x-k8s.io_clusterqueues.yaml",
            "config/components/crd/bases/kueue.x-k8s.io_localqueues.yaml",
            "config/components/crd/bases/kueue.x-k8s.io_resourceflavors.yaml",
            "config/components/crd/bases/kueue.x-k8s.io_workloadpriorityclasses.yaml",
            "config/components/crd/bases/kueue.x-k8s.io_workloads.yaml",
        ),
    ),
    # No definitions, but the types that they are made of.
    Module(
        "volcano.sh/apis",
        "v1.13.0",
        "h1:MZKCBBxsgsT4eJXO1//MXq2KddBFLq9tZETTAt2YjMI=",
        (volcano.SOURCE,),
    ),
)


def ensure(settings: Mapping[str, str] | None = None) -> Path:
    """The folder with the definitions, fetched if need be. ToolError when a module cannot be had."""
    settings = environment() if settings is None else settings
    root = cache_root(settings)

    def make(folder: Path) -> None:
        for module in MODULES:
            source = _fetched(module, folder, root, settings)
            for file in module.files:
                target = folder / (file if file.endswith(".go") else Path(file).name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / file, target)

    return publish(root / "crds" / key(repr(MODULES)), make)


@cache
def schemas() -> dict[tuple[str, str], dict[str, Any]]:
    """The strict schema of each version of each kind, by apiVersion and kind. ToolError as in `ensure`."""
    folder = ensure()
    found = volcano.schemas(folder)
    for path in folder.glob("*.yaml"):
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the definitions are long
        spec = yaml.load(path.read_text(), loader)["spec"]  # noqa: S506 - a safe loader
        for version in spec["versions"]:
            kind = (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
            found[kind] = _strict(version["schema"]["openAPIV3Schema"])
    return found


def is_custom(item: Mapping[str, Any]) -> bool:
    """Whether an object's kind is one that a definition here has. ToolError as in `ensure`."""
    return _kind(item) in schemas()


def errors(item: Mapping[str, Any]) -> list[str]:
    """What the definition of a custom kind finds in an object of it; KeyError for any other kind."""
    return [error.message for error in Draft202012Validator(schemas()[_kind(item)]).iter_errors(item)]


def _kind(item: Mapping[str, Any]) -> tuple[str, str]:
    return str(item.get("apiVersion")), str(item.get("kind"))


def _strict(schema: Any) -> Any:
    """A structural schema in which unknown fields are refused, as the API server refuses or drops them."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _strict(value) for key, value in schema.items()}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result.setdefault("additionalProperties", False)
    return result


def _fetched(module: Module, folder: Path, root: Path, settings: Mapping[str, str]) -> Path:
    """The folder of a module's files, in Go's own cache."""
    name = f"{module.path}@{module.version}"
    go = golang.choose(_OLDEST_GO, golang.on_path(settings))
    progress.say(f"fetching {name} for its custom resource definitions (once)")
    words = ("mod", "download", "-json", name)
    done = golang.asked(go, root, settings, folder, *words, flags="-mod=mod")
    if done.returncode:
        raise ToolError(golang.explain(name, str(folder), done.stdout + done.stderr, root))
    answer = json.loads(done.stdout)
    if answer["Sum"] != module.sum:
        raise ToolError(
            f"{name} is not what tools/k8s/crds.py pins: {answer['Sum']} and not {module.sum}. Do not go on: "
            "find out who changed it, the proxy or the file."
        )
    return Path(answer["Dir"])
