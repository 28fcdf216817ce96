"""A valid document and its rendered pods: the parts that documents of all kinds have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sparkgen.errors import Path
from sparkgen.lint.settings import Settings

Kind = Literal["spark", "init", "sidecar", "runtime"]


@dataclass(frozen=True, slots=True)
class Container:
    """A rendered container.

    `kind`: "runtime" for sparkgen's own containers. `places`: the document's paths that describe it, in the
    order of their precedence.
    """

    role: str
    kind: Kind
    name: str
    spec: Mapping[str, Any]
    places: tuple[Path, ...]

    def security(self, *names: str) -> Any:
        """A setting of its own security context, or None."""
        return _dig(self.spec, ("securityContext", *names))


@dataclass(frozen=True, slots=True)
class Pod:
    """The rendered pod of the driver, of the executors or of a server.

    `places`: the document's paths of its security context; `annotated`: the paths of its annotations.
    """

    role: str
    template: Mapping[str, Any]
    containers: tuple[Container, ...]
    places: tuple[Path, ...]
    annotated: tuple[Path, ...]

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        inside: Mapping[str, Any] = self.template["spec"]
        return inside

    @property
    def annotations(self) -> Mapping[str, str]:
        """The pod's annotations."""
        found: Mapping[str, str] = self.template["metadata"].get("annotations") or {}
        return found

    def security(self, *names: str) -> Any:
        """A setting of the pod's security context, or None."""
        return _dig(self.spec, ("securityContext", *names))


@dataclass(frozen=True, slots=True)
class View:
    """A frozen view of a document. `root`: the path of the spec with the image; `settings`: the thresholds.

    `PAGES`: its pages in a browser, in words.
    """

    PAGES: ClassVar[str]

    value: Mapping[str, Any]
    root: Path
    pods: tuple[Pod, ...]
    settings: Settings

    @property
    def shows_pages(self) -> bool:
        """Whether it has pages for a browser."""
        return True

    def path(self, *parts: str | int) -> Path:
        """The whole path of a path below the spec."""
        return (*self.root, *parts)

    def containers(self, *kinds: Kind) -> Iterator[tuple[Pod, Container]]:
        """The containers of these kinds (by default, of all but "runtime"), with their pods."""
        for pod in self.pods:
            for container in pod.containers:
                if container.kind in (kinds or ("spark", "init", "sidecar")):
                    yield pod, container

    def has(self, path: Path) -> bool:
        """Whether the document has a value at a path."""
        return self.at(path) is not None

    def at(self, path: Path) -> Any:
        """The document's value at a path, or None."""
        return _dig(self.value, path)

    def where(self, places: tuple[Path, ...], *names: str) -> Path:
        """The path of a field in the first of these places that has it, or else in the first place."""
        paths = [(*place, *names) for place in places]
        return next((path for path in paths if self.has(path)), paths[0])


def _dig(value: Any, parts: Path) -> Any:
    for part in parts:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value
