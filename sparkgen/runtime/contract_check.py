"""Whether manifests and this image are of one version of the contract."""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen import contract
from sparkgen.runtime.exits import Refused


def check_contract(environment: Mapping[str, str]) -> None:
    """Refused when the manifests were made for another version of the contract."""
    asked = environment.get(contract.ENV_CONTRACT)
    if asked != str(contract.VERSION):
        raise Refused(
            f"the manifests have contract version {asked or '(none)'}, but this runtime image has version "
            f"{contract.VERSION}; render them with a release of sparkgen for this image, or set "
            f"spec.runtimeImage to an image with the tag {asked or contract.VERSION}"
        )
