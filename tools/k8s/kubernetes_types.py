"""schemas/kubernetes.schema.json: the Kubernetes types that an application document contains.

`make golden` writes the file.

Source of the types: the strict JSON Schemas that PyPI's `kubernetes-validate` carries, which are Kubernetes'
published OpenAPI document, cut into files. They lack the allowed values of enums and the ranges of numbers:
`ENUMS`, `PATTERNS` and `LIMITS` below add them. Their source is Kubernetes' Go types (k8s.io/api,
core/v1/types.go: constants marked `+enum`) and the API server's checks (pkg/apis/core/validation).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]

from sparkgen.grammar import quantity

VERSION = "1.36"
OUTPUT = Path(__file__).resolve().parents[2] / "schemas" / "kubernetes.schema.json"
Schema = dict[str, Any]

ROOTS = (
    "Affinity",
    "Container",
    "ContainerPort",
    "EnvFromSource",
    "EnvVar",
    "HostAlias",
    "Lifecycle",
    "NetworkPolicyPeer",
    "PodDNSConfig",
    "PodSecurityContext",
    "PodTemplateSpec",
    "ResourceRequirements",
    "SecurityContext",
    "Toleration",
    "TopologySpreadConstraint",
    "Volume",
    "VolumeMount",
)
"""What spark-application.schema.json refers to; everything these need comes with them."""

KEPT_METADATA = ("annotations", "creationTimestamp", "labels", "name", "namespace")
"""ObjectMeta in a pod or claim template: the rest is set by the API server or has no meaning there."""
DROPPED = {"PodSpec": ("ephemeralContainers",)}
"""Fields that the API server refuses in a template: ephemeral containers are added to running pods only."""
NOT_REQUIRED = {"PodSpec": ("containers",)}
"""`template` is merged into the pod that sparkgen makes, which has its containers already."""

PULL_POLICIES = ["Always", "IfNotPresent", "Never"]
PROFILES = ["Localhost", "RuntimeDefault", "Unconfined"]
NODE_INCLUSION = ["Honor", "Ignore"]
SELECTOR_OPERATORS = ["DoesNotExist", "Exists", "In", "NotIn"]

ENUMS: dict[str, list[str]] = {
    "AppArmorProfile.type": PROFILES,
    "AzureDiskVolumeSource.cachingMode": ["None", "ReadOnly", "ReadWrite"],
    "AzureDiskVolumeSource.kind": ["Dedicated", "Managed", "Shared"],
    "Container.imagePullPolicy": PULL_POLICIES,
    "Container.restartPolicy": ["Always", "Never", "OnFailure"],
    "Container.terminationMessagePolicy": ["FallbackToLogsOnError", "File"],
    "ContainerPort.protocol": ["SCTP", "TCP", "UDP"],
    "ContainerResizePolicy.restartPolicy": ["NotRequired", "RestartContainer"],
    "ContainerRestartRule.action": ["Restart", "RestartAllContainers"],
    "ContainerRestartRuleOnExitCodes.operator": ["In", "NotIn"],
    "HTTPGetAction.scheme": ["HTTP", "HTTPS"],
    "HostPathVolumeSource.type": [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ],
    "ImageVolumeSource.pullPolicy": PULL_POLICIES,
    "LabelSelectorRequirement.operator": SELECTOR_OPERATORS,
    "NodeSelectorRequirement.operator": [*SELECTOR_OPERATORS[:2], "Gt", "In", "Lt", "NotIn"],
    "PersistentVolumeClaimSpec.accessModes[]": [
        "ReadOnlyMany",
        "ReadWriteMany",
        "ReadWriteOnce",
        "ReadWriteOncePod",
    ],
    "PersistentVolumeClaimSpec.volumeMode": ["Block", "Filesystem"],
    "PodCertificateProjection.keyType": [
        "ECDSAP256",
        "ECDSAP384",
        "ECDSAP521",
        "ED25519",
        "RSA3072",
        "RSA4096",
    ],
    "PodOS.name": ["linux", "windows"],
    "PodSecurityContext.fsGroupChangePolicy": ["Always", "OnRootMismatch"],
    "PodSecurityContext.seLinuxChangePolicy": ["MountOption", "Recursive"],
    "PodSecurityContext.supplementalGroupsPolicy": ["Merge", "Strict"],
    "PodSpec.dnsPolicy": ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"],
    "PodSpec.preemptionPolicy": ["Never", "PreemptLowerPriority"],
    "PodSpec.restartPolicy": ["Always", "Never", "OnFailure"],
    "SeccompProfile.type": PROFILES,
    "SecurityContext.procMount": ["Default", "Unmasked"],
    "Toleration.effect": ["", "NoExecute", "NoSchedule", "PreferNoSchedule"],
    "Toleration.operator": ["Equal", "Exists", "Gt", "Lt"],
    "TopologySpreadConstraint.nodeAffinityPolicy": NODE_INCLUSION,
    "TopologySpreadConstraint.nodeTaintsPolicy": NODE_INCLUSION,
    "TopologySpreadConstraint.whenUnsatisfiable": ["DoNotSchedule", "ScheduleAnyway"],
    "VolumeMount.mountPropagation": ["Bidirectional", "HostToContainer", "None"],
    "VolumeMount.recursiveReadOnly": ["Disabled", "Enabled", "IfPossible"],
}
"""`<Type>.<field>` (`[]` for a list's items) -> allowed values. An empty value means the field's default."""

DNS_LABEL = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
DNS_LABEL_TEXT = "lower-case letters, digits and '-', starting and ending with a letter or a digit"
PORT_NAME = "^[0-9-]*[a-z][a-z0-9-]*$"

PATTERNS: dict[str, tuple[str, str]] = {
    "Container.name": (DNS_LABEL, DNS_LABEL_TEXT),
    "ContainerPort.name": (PORT_NAME, "lower-case letters, digits and '-', with at least one letter"),
    "EmptyDirVolumeSource.medium": ("^(Memory|HugePages(-.+)?)?$", "Memory, HugePages or HugePages-<size>"),
    "EnvVar.name": ("^[ -<>-~]+$", "printable ASCII characters except '='"),
    "Volume.name": (DNS_LABEL, DNS_LABEL_TEXT),
    "VolumeMount.mountPath": ("^[^:]+$", "a path without ':'"),
}
"""`<Type>.<field>` -> pattern and the same in words."""

PORT: Schema = {"minimum": 1, "maximum": 65535}
WEIGHT: Schema = {"minimum": 1, "maximum": 100}
FILE_MODE: Schema = {"minimum": 0, "maximum": 0o777}
USER_ID: Schema = {"minimum": 0}

LIMITS: dict[str, Schema] = {
    "Container.name": {"maxLength": 63},
    "ContainerPort.containerPort": PORT,
    "ContainerPort.hostPort": PORT,
    "ContainerPort.name": {"maxLength": 15},
    "GRPCAction.port": PORT,
    "ConfigMapVolumeSource.defaultMode": FILE_MODE,
    "DownwardAPIVolumeFile.mode": FILE_MODE,
    "DownwardAPIVolumeSource.defaultMode": FILE_MODE,
    "KeyToPath.mode": FILE_MODE,
    "ProjectedVolumeSource.defaultMode": FILE_MODE,
    "SecretVolumeSource.defaultMode": FILE_MODE,
    "NodeSelector.nodeSelectorTerms": {"minItems": 1},
    "PodSecurityContext.fsGroup": USER_ID,
    "PodSecurityContext.runAsGroup": USER_ID,
    "PodSecurityContext.runAsUser": USER_ID,
    "SecurityContext.runAsGroup": USER_ID,
    "SecurityContext.runAsUser": USER_ID,
    "PodSpec.activeDeadlineSeconds": {"minimum": 1},
    "PodSpec.terminationGracePeriodSeconds": {"minimum": 0},
    "PreferredSchedulingTerm.weight": WEIGHT,
    "WeightedPodAffinityTerm.weight": WEIGHT,
    "TopologySpreadConstraint.maxSkew": {"minimum": 1},
    "Volume.name": {"maxLength": 63},
    "Volume": {"maxProperties": 2},  # its name and one source
    "VolumeProjection": {"minProperties": 1, "maxProperties": 1},
    "EnvVarSource": {"minProperties": 1, "maxProperties": 1},
    "LifecycleHandler": {"minProperties": 1, "maxProperties": 1},
    "NetworkPolicyPeer": {"minProperties": 1},
}
"""`<Type>` or `<Type>.<field>` -> ranges and lengths."""

LARGEST_AMOUNT = float(f"1e{quantity.LARGEST_EXPONENT}")
"""Of an amount that is a number in YAML."""

SHORTEST = 30
"""A description with fewer characters takes the next sentence too: "Image pull policy." tells little."""

QUANTITY = (
    "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE](\\+?0*([0-9]|[12][0-9]|30)|-[0-9]+))?$"
)
"""apimachinery, pkg/api/resource/quantity.go: the grammar in the comment of `Quantity`.

With the limits of sparkgen/grammar/quantity.py: a pod's requests must add up.
"""

QUANTITY_TEXT = (
    "a Kubernetes quantity: a number, and m, k, M, G, T, Ki, Mi, Gi, Ti, an exponent up to e30 or nothing "
    "right after it"
)

SCALARS: dict[str, Schema] = {
    "Quantity": {
        "description": "An amount: a number, or a number with a suffix such as 500m, 2Gi or 10M.",
        "type": ["string", "number"],
        "pattern": QUANTITY,
        "patternErrorMessage": QUANTITY_TEXT,
        "maxLength": quantity.LONGEST_TEXT,
        "minimum": -LARGEST_AMOUNT,
        "maximum": LARGEST_AMOUNT,
    },
    "IntOrString": {
        "description": "A number, or a text: the name of a port, or a percentage.",
        "type": ["integer", "string"],
    },
    "Time": {
        "description": "Set by the API server; generated pod templates carry null.",
        "type": "null",
    },
}
"""Types that upstream writes as oneOf, whose messages help nobody, or that only the API server sets."""


def upstream(version: str = VERSION) -> dict[str, Schema]:
    """Kubernetes' definitions by short name (`Volume`), from the installed `kubernetes-validate`."""
    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
    text = (folder / f"v{version}.0-local-strict" / "_definitions.json").read_text(encoding="utf-8")
    types: dict[str, Schema] = {}
    for full_name, schema in json.loads(text)["$defs"].items():
        # Only these packages hold what a pod is made of; short names are unique among them.
        if re.search(r"\.api\.core\.v1\.|\.networking\.v1\.|\.apimachinery\.", full_name):
            types[full_name.rsplit(".", 1)[1]] = schema
    return types


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line; two where the first says next to nothing."""
    line = " ".join(text.split())
    rest = re.sub(r"^(Required|Optional)[.,:]? ", "", line)
    line = line if rest == line else rest[:1].upper() + rest[1:]
    ends = [
        match.start() + 1
        for match in re.finditer(r"\. (?=[A-Z\"'*-])", line)
        # "e.g." and its like end no sentence.
        if not re.search(r"(e\.g|i\.e|etc)$", line[: match.start()])
    ]
    end = next((end for end in ends if end >= SHORTEST), len(line))
    return re.split(r" More info: ", line[:end])[0]


def without_null(kind: Any) -> Any:
    """A type without null: a key with nothing after it is a mistake, not a value."""
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        return kinds[0] if len(kinds) == 1 else kinds
    return kind


def reduced(schema: Schema) -> Schema:
    """A schema in the few keywords that sparkgen's own validator knows."""
    out: Schema = {}
    if "description" in schema:
        out["description"] = first_sentence(schema["description"])
    if "$ref" in schema:
        return out | {"$ref": "#/$defs/" + schema["$ref"].rsplit(".", 1)[1]}
    if "type" in schema:
        out["type"] = without_null(schema["type"])
    if "properties" in schema:
        out["properties"] = {name: reduced(one) for name, one in schema["properties"].items()}
    if "items" in schema:
        out["items"] = reduced(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = reduced(schema["additionalProperties"])
    elif "properties" in schema:
        out["additionalProperties"] = False
    if "required" in schema:
        out["required"] = sorted(schema["required"])
    return out


def supplemented(name: str, schema: Schema) -> Schema:
    """A type with what upstream lacks: enums, patterns and limits; and without what has no use here."""
    if name in SCALARS:
        return dict(SCALARS[name])
    fields = schema.get("properties", {})
    for field in DROPPED.get(name, ()):
        del fields[field]
    if name == "ObjectMeta":
        schema["properties"] = fields = {field: fields[field] for field in KEPT_METADATA}
    for field in NOT_REQUIRED.get(name, ()):
        schema["required"].remove(field)
    if not schema.get("required", True):
        del schema["required"]
    schema.update(LIMITS.get(name, {}))
    for field, one in fields.items():
        key = f"{name}.{field}"
        if key in ENUMS:
            one["enum"] = ENUMS[key]
        if f"{key}[]" in ENUMS:
            one["items"]["enum"] = ENUMS[f"{key}[]"]
        if key in PATTERNS:
            one["pattern"], one["patternErrorMessage"] = PATTERNS[key]
        one.update(LIMITS.get(key, {}))
    return schema


def references(schema: Any) -> Iterator[str]:
    """The names of the types that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rsplit("/", 1)[1]
        for one in schema.values():
            yield from references(one)


def closure(types: dict[str, Schema]) -> dict[str, Schema]:
    """The types in `ROOTS` and all that they need, by name."""
    done: dict[str, Schema] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in done:
            done[name] = supplemented(name, reduced(types[name]))
            waiting.extend(references(done[name]))
    return dict(sorted(done.items()))


def unused_supplements(types: dict[str, Schema]) -> list[str]:
    """Entries of the tables above that name no type or field any more."""
    known = set(types) | {
        f"{name}.{field}" for name, schema in types.items() for field in schema.get("properties", {})
    }
    return sorted({key.removesuffix("[]") for key in (*ENUMS, *PATTERNS, *LIMITS)} - known)


def generate() -> str:
    """The text of the output file."""
    types = closure(upstream())
    if unused := unused_supplements(types):
        raise SystemExit(
            f"these entries of the tables name nothing in Kubernetes {VERSION}: {', '.join(unused)}"
        )
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"Generated by tools/k8s/kubernetes_types.py from Kubernetes {VERSION}. Do not edit.",
        "title": "Kubernetes types in an application document",
        "$defs": types,
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
