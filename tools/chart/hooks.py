"""What Helm's hooks make, as layers (sparkgen/resources/fill.py): `sparkgen render` has none of it."""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen import contract
from sparkgen.resources.layers import (
    DEFAULT_RUNTIME_RESOURCES,
    RUNTIME_MOUNT,
    RUNTIME_VOLUME,
    Layer,
    config_map_volume,
    read_only,
)
from sparkgen.resources.object_layers import granted
from sparkgen.resources.security import POD_SECURITY, RESTRICTED

ONCE = "before-hook-creation,hook-succeeded"

CONTAINER: Layer = {
    "image": "@{image}",
    "imagePullPolicy": "@{pullPolicy}",
    "command": ["python3", "-I", "-c", "@{script}"],
    "resources": DEFAULT_RUNTIME_RESOURCES,
    "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
}
POD: Layer = {
    "restartPolicy": "Never",
    "enableServiceLinks": False,
    "securityContext": POD_SECURITY,
    "imagePullSecrets": "@{pullSecrets}",
}


def metadata(component: str, annotations: Mapping[str, str], labels: Mapping[str, str]) -> Layer:
    """Of an object of a hook."""
    return {
        "name": f"@{{name}}-{component}",
        "namespace": "@{namespace}",
        "labels": {contract.LABEL_NAME: "@{name}", contract.LABEL_COMPONENT: component, **labels},
        "annotations": annotations,
    }


UNINSTALL = metadata(
    "uninstall", {"helm.sh/hook": "pre-delete", "helm.sh/hook-delete-policy": ONCE}, labels={}
)
RULES: tuple[Layer, ...] = (
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "delete"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "delete"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {
        "@if": "podGroups",
        "apiGroups": ["scheduling.volcano.sh"],
        "resources": ["podgroups"],
        "verbs": ["list", "delete"],
    },
)

HOOK_LAYERS: Mapping[str, Layer] = {
    # Removes every run of the release, superseded ones too.
    "uninstall": {
        "objects": [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": UNINSTALL},
            *granted(None, UNINSTALL, RULES, "@{name}-uninstall"),
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": UNINSTALL,
                "spec": {
                    "backoffLimit": 2,
                    "activeDeadlineSeconds": 290,
                    "template": {
                        "metadata": {
                            "labels": {contract.LABEL_NAME: "@{name}", "sidecar.istio.io/inject": "false"},
                            "annotations": {"linkerd.io/inject": "disabled"},
                        },
                        "spec": {
                            **POD,
                            "serviceAccountName": "@{name}-uninstall",
                            "containers": [
                                {
                                    **CONTAINER,
                                    "name": "uninstall",
                                    "args": ["@{namespace}", "@{release}", "@{*further}"],
                                }
                            ],
                        },
                    },
                },
            },
        ]
    },
    # Reads the current run's ConfigMaps with the runtime image.
    "test": {
        "objects": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": metadata(
                    "test",
                    {
                        "helm.sh/hook": "test",
                        "helm.sh/hook-delete-policy": ONCE,
                        "linkerd.io/inject": "disabled",
                    },
                    labels={"sidecar.istio.io/inject": "false"},
                ),
                "spec": {
                    **POD,
                    "automountServiceAccountToken": False,
                    "containers": [
                        {
                            **CONTAINER,
                            "name": "test",
                            "args": [
                                str(contract.VERSION),
                                contract.CONF_DIR,
                                contract.EXECUTOR_DIR,
                                contract.TUNING_DIR,
                                "@{*runtimeCommand}",
                            ],
                            "volumeMounts": [
                                RUNTIME_MOUNT,
                                read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                                read_only(contract.EXECUTOR_VOLUME, contract.EXECUTOR_DIR),
                                read_only(contract.TUNING_VOLUME, contract.TUNING_DIR),
                            ],
                        }
                    ],
                    "volumes": [
                        RUNTIME_VOLUME,
                        config_map_volume(contract.CONF_VOLUME, "@{run}-conf"),
                        config_map_volume(contract.EXECUTOR_VOLUME, "@{run}-executor"),
                        config_map_volume(contract.TUNING_VOLUME, "@{name}-tuning"),
                    ],
                },
            }
        ]
    },
}
"""Hook -> its objects."""
