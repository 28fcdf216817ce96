"""Metrics in Prometheus' text format (version 0.0.4). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Labels = tuple[tuple[str, str], ...]


def single(name: str, kind: str, text: str, value: float) -> Iterator[str]:
    """The lines of a metric that has one value."""
    return metric(name, kind, text, [((), value)])


def metric(name: str, kind: str, text: str, values: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    """The lines of a metric: its help, its type (gauge or counter), and a value per set of labels."""
    yield f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    for labels, value in values:
        shown = ",".join(f'{key}="{_escaped(content)}"' for key, content in labels)
        yield f"{name}{{{shown}}} {value:g}\n" if labels else f"{name} {value:g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
