"""The thresholds of the rules, which a repository may set in its configuration."""

from __future__ import annotations

from dataclasses import dataclass

CONTROLLERS = ("argocd", "flux")


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes are in MiB. None and () mean not set: rules that need the value then find nothing.

    `controllers`: the controllers that sync the objects: "argocd", "flux" or both; () if unknown.
    `registries`: the allowed prefixes of image names. `required_labels`: keys that `metadata.labels` must
    have. `max_*`: the most that one application may use with all its executors.
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
