"""Classes that a property can name, and that need the scheduler backend of native Spark on Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_SCHEDULER = "org.apache.spark.scheduler.cluster.k8s"
_NO_RESIZING = "sparkgen does not resize running pods and claims: request what the executors need at most"

BACKEND_CLASSES: Mapping[str, str] = {
    f"{_SCHEDULER}.ExecutorRollPlugin": (
        "sparkgen does not replace executors that work: start a new run to get new executors"
    ),
    f"{_SCHEDULER}.ExecutorResizePlugin": _NO_RESIZING,
    f"{_SCHEDULER}.ExecutorPVCResizePlugin": _NO_RESIZING,
    "org.apache.spark.shuffle.KubernetesLocalDiskShuffleDataIO": (
        "a claim per pod ends with its pod: to keep shuffle data, set `shuffleService`"
    ),
}
"""Class -> why it has no effect, and what to do."""

PROPERTIES = ("spark.plugins", "spark.shuffle.sort.io.plugin.class")
"""The properties that name such classes; the first may name several, separated by commas."""


def backend_classes(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields property and class for each class that has no effect with sparkgen."""
    for name in PROPERTIES:
        for part in properties.get(name, "").split(","):
            if part.strip() in BACKEND_CLASSES:
                yield name, part.strip()


def without_backend_classes(name: str, text: str) -> str:
    """Returns a property's value without the classes that have no effect; "" if no class is left."""
    if not any(backend_classes({name: text})):
        return text
    parts = (part.strip() for part in text.split(","))
    return ",".join(part for part in parts if part and part not in BACKEND_CLASSES)
