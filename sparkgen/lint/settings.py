"""What the rules measure with: the values that a repository may choose in its configuration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes are in MiB. None and () mean that nothing was said: rules that need the value say nothing then.

    `controllers`: who syncs the objects: "argocd", "flux" or both; () leaves it open. `registries`: what
    names of images may begin with. `required_labels`: keys that `metadata.labels` must have. `max_*`: what
    one application may use when it has all its executors.
    """

    controllers: tuple[str, ...] = ()
    registries: tuple[str, ...] = ()
    required_labels: tuple[str, ...] = ()
    max_executors: int | None = None
    max_cores: int | None = None
    max_memory: int | None = None
    fixed_executors: int = 10
    min_executors: int = 5
    memory_per_core: int = 16 * 1024
    driver_cores: int = 4
    driver_memory: int = 16 * 1024
