"""What the garbage collection of a staging server knows: its settings, what is kept, and who names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen import contract
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
"""The only algorithm of distribution's storage, and of artifacts."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the document asks for; `grace` in seconds."""

    namespaces: tuple[str, ...]
    grace: float
    dry_run: bool


@dataclass(frozen=True, slots=True, order=True)
class Manifest:
    """A manifest of a repository. `pushed`: when it was pushed last, in seconds since 1970.

    `subjects`: the manifests that it is about, as a signature is.
    """

    repository: str
    digest: str
    pushed: float
    subjects: tuple[str, ...] = ()

    @property
    def namespace(self) -> str:
        """The first part of the repository's name."""
        return self.repository.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Named:
    """The digests that objects of the namespaces name, and why a namespace could not be read, by its name."""

    digests: frozenset[str]
    unread: Mapping[str, str]


def settings(environment: Mapping[str, str]) -> Settings:
    """What the manifests ask for; Refused when they say it in another version's words, or not at all."""
    check_contract(environment)
    namespaces = tuple(name for name in environment.get(contract.ENV_GC_NAMESPACES, "").split(",") if name)
    try:
        grace = float(environment.get(contract.ENV_GC_GRACE, ""))
    except ValueError:
        grace = -1.0
    if not namespaces or not 0 <= grace < float("inf"):
        raise Refused(
            f"missing environment variable {contract.ENV_GC_NAMESPACES} or {contract.ENV_GC_GRACE}: render "
            "the staging server again, and use it as rendered"
        )
    return Settings(namespaces, grace, environment.get(contract.ENV_GC_DRY_RUN) == "true")
