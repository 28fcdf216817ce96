"""The field of a document that names a key of a Secret or a ConfigMap, for messages about a missing key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.kerberos import LOGINS

_OF_OUR_VOLUMES = {
    contract.KRB5_VOLUME: f"spec.kerberos.krb5ConfigMap, whose key is {contract.KRB5_FILE}",
    contract.HADOOP_VOLUME: "spec.hadoopConfigMap",
}
_OF_FILES = {file: f"spec.kerberos.{field}.key" for field, (_, file) in LOGINS.items()}
"""File in the driver's folder for its login -> the field that names the key with its content."""


def of_volume(volume: Mapping[str, Any]) -> str:
    """The field with the key that a pod's volume takes."""
    name = volume.get("name")
    if name == contract.KERBEROS_VOLUME:
        items = (volume.get("secret") or {}).get("items")
        paths = [one.get("path") for one in items if isinstance(one, dict)] if isinstance(items, list) else []
        return next((_OF_FILES[path] for path in paths if path in _OF_FILES), "the key in spec.kerberos")
    return _OF_OUR_VOLUMES.get(str(name), "the key in spec.volumes")
