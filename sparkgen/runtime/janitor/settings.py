"""The janitor's environment variables as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from sparkgen import contract
from sparkgen.runtime.environment import port as port_in
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.janitor.values import JanitorSettings


def directories(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The service's directories. Raises Refused if there are none, or if a path is not absolute."""
    name = contract.ENV_JANITOR_DIRECTORIES
    paths = tuple(Path(text) for text in environment.get(name, "").split(",") if text)
    if not paths or not all(path.is_absolute() for path in paths):
        given = environment.get(name, "")
        raise Refused(f"{name} must be absolute paths separated by commas, not {given!r}")
    return paths


def settings(environment: Mapping[str, str]) -> JanitorSettings:
    """The settings, with defaults for what is not set. Raises Refused for an invalid value."""
    defaults = JanitorSettings()

    def number(name: str, default: float, least: float, most: float) -> float:
        text = environment.get(name, "")
        try:
            value = float(text) if text else default
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise Refused(f"{name} must be a number from {least:g} to {most:g}, not {text!r}")
        return value

    dry_run = environment.get(contract.ENV_JANITOR_DRY_RUN, "false")
    if dry_run not in ("true", "false"):
        raise Refused(f"{contract.ENV_JANITOR_DRY_RUN} must be true or false, not {dry_run!r}")
    year = 366 * 86_400
    return JanitorSettings(
        interval=number(contract.ENV_JANITOR_INTERVAL, defaults.interval, 1, 3600),
        grace=number(contract.ENV_JANITOR_GRACE, defaults.grace, 0, year),
        without_access=number(contract.ENV_JANITOR_UNKNOWN, defaults.without_access, 0, year),
        pressure=number(contract.ENV_JANITOR_PRESSURE, defaults.pressure * 100, 1, 100) / 100,
        dry_run=dry_run == "true",
    )


def port(environment: Mapping[str, str]) -> int:
    """The port for probes and Prometheus. Raises Refused for an invalid port."""
    given = port_in(environment, contract.ENV_JANITOR_PORT, least=0)
    return contract.JANITOR_PORT if given is None else given
