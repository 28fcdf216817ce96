"""The table for kubeflow's SparkConnect, and conversions that depend on the operator's defaults.

Source of the fields: kubeflow/spark-operator, api/v1alpha1/sparkconnect_types.go; of their effects:
internal/controller/sparkconnect/{options,reconciler}.go. The server is a pod without a controller that runs
start-connect-server.sh in client mode. Its template sets the pod's size; Spark's memory settings set only its
heap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.document import Node
from sparkgen.grammar import GrammarError, quantity
from sparkgen.importing import metadata, transforms
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.naming import FALLBACK
from sparkgen.importing.shapes import fits
from sparkgen.importing.table import Row, Take, table
from sparkgen.model import sizes
from sparkgen.model.application import Memory
from sparkgen.model.properties import DYNAMIC_ALLOCATION, effective_properties
from sparkgen.properties import HADOOP

OPERATOR_LABELS: Mapping[str, str] = {
    "sparkoperator.k8s.io/connect-name": "NAME",
    "sparkoperator.k8s.io/launched-by-spark-operator": "true",
}
"""Labels that the operator sets on the pods of a Connect server NAME (pkg/common/spark.go)."""

_ALLOCATION = (
    "enabled",
    "initialExecutors",
    "minExecutors",
    "maxExecutors",
    "shuffleTrackingEnabled",
    "shuffleTrackingTimeout",
)
_REPLACED = "the operator replaces this field, too"
_PROBES = "sparkgen sets its own probes, which call the server by gRPC"
_SERVICE = "a document can set only the type, port, annotations and labels of the Service"
_SERVICE_STEP = "use an annotation that your cloud supports, or commit your own Service"


def template(given: Take) -> None:
    """Convert a pod template: some values of its container have fields here, such as the image."""
    transforms.template(given, _own_fields)


def _own_fields(place: Take, container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns Spark's container without values that have a field here, or that sparkgen sets itself."""
    left = dict(container)
    if container.get("image"):
        _image(place.at("image"))
        del left["image"]
    if place.role == "executor":
        return left
    for field in ("command", "args", "lifecycle"):
        if field in left:
            del left[field]
            place.at(field).needless(_REPLACED)
    for field in ("startupProbe", "readinessProbe"):
        if field in left:
            del left[field]
            place.at(field).lost(_PROBES, "delete it")
    _token(place, left)
    _resources(place, left)
    return left


def _image(given: Take) -> None:
    """Copy a container's image to the document's, or to the role's if the document has another one."""
    draft = given.draft
    both = draft.get("spec", "image")
    if both in (None, given.node.text):
        given.put(("spec", "image"), given.node.text)
    else:
        given.put(("spec", given.role, "image"), given.node.text)


def _token(place: Take, left: dict[str, Any]) -> None:
    """Move the variable with the token for clients to its own field, if a Secret has the token."""
    variables = place.node.entries.get("env")
    for index, variable in enumerate(variables.items if variables is not None else ()):
        reference = variable.find(("valueFrom", "secretKeyRef"))
        name = variable.find(("name",))
        if name is None or name.text != contract.ENV_CONNECT_TOKEN or reference is None:
            continue
        if reference.is_mapping and reference.value.keys() == {"name", "key"}:
            left["env"] = [item for item in left["env"] if item is not variable.value]
            target = ("spec", "connect", "token")
            place.draft.put(target, dict(reference.value))
            place.at("env", index).tell(Outcome.REWRITTEN, target, "the token has its own field")
            if not left["env"]:
                del left["env"]
            return


def _resources(place: Take, left: dict[str, Any]) -> None:
    """Move CPU to its fields. Remove memory, which `size_server` converts when the heap is known."""
    resources = left.get("resources")
    if not isinstance(resources, dict):
        return
    kept = dict(resources)
    for side, field in (("requests", "coreRequest"), ("limits", "coreLimit")):
        amounts = resources.get(side)
        if not isinstance(amounts, dict):
            continue
        if amounts.get("cpu") is not None:
            cpu = place.at("resources", side, "cpu")
            cpu.put(("spec", "driver", field), cpu.node.text)
        kept[side] = {name: value for name, value in amounts.items() if name not in ("cpu", "memory")}
        if not kept[side]:
            del kept[side]
    left["resources"] = kept
    if not kept:
        del left["resources"]


def hadoop(given: Take) -> None:
    """Copy Hadoop's properties, with or without the prefix `spark.hadoop.`."""
    for key, child in given.node.entries.items():
        name, part = key.removeprefix(HADOOP), given.at(key)
        if child.value is None:
            part.needless("has no value")
        else:
            rewritten = Outcome.CARRIED if name == key else Outcome.REWRITTEN
            part.put(("spec", "hadoopConf", name), child.value, rewritten)


def dynamic_allocation(given: Take) -> None:
    """Copy dynamic allocation; the operator ignores its fields unless `enabled` is true."""
    enabled = given.node.entries.get("enabled")
    on = enabled is not None and enabled.value is True
    for field, child in given.node.entries.items():
        part, target = given.at(field), (*given.target, field)
        if child.value is None:
            part.needless("has no value")
        elif field not in _ALLOCATION:
            part.lost("unknown field in this format", "find its purpose, and set that by hand")
        elif field == "enabled" and child.value is False and _conf_enables(given.draft):
            part.needless("the operator uses `sparkConf` instead, which enables it")
        elif field != "enabled" and not on:
            part.needless("the operator reads it only with `enabled: true`")
        elif not fits(target, child):
            part.lost("the value does not fit this field", "look up which values the field accepts")
        else:
            part.put(target, child.value)


def _conf_enables(draft: Draft) -> bool:
    return any(
        item.name == DYNAMIC_ALLOCATION and item.text.strip().lower() == "true" for item in draft.properties
    )


def fill_in(draft: Draft) -> None:
    """Add two defaults of the operator's Connect server that differ from sparkgen's."""
    if draft.get("spec", "dynamicAllocation", "enabled") is None:
        reason = "the operator's default; sparkgen's is true"
        draft.add(Outcome.ADDED, ("spec", "dynamicAllocation", "enabled"), False, reason)
    if "spark.scheduler.mode" not in (draft.get("spec", "sparkConf") or {}):
        reason = "Spark's default; sparkgen's is FAIR, for several users at once"
        draft.add(Outcome.ADDED, ("spec", "sparkConf", "spark.scheduler.mode"), "FIFO", reason)


def size_server(draft: Draft, node: Node) -> None:
    """Convert the memory of the server's pod: here it is heap plus overhead, for request and limit."""
    place = ("spec", "server", "template", "spec")
    spec = node.find(place)
    index = transforms.spark_container(spec, contract.DRIVER_CONTAINER) if spec is not None else None
    if spec is None or index is None:
        return
    below = ("containers", index, "resources")
    said = {side: spec.find((*below, side, "memory")) for side in ("limits", "requests")}
    amounts = {side: amount for side, amount in said.items() if amount is not None}
    if not amounts:
        return
    wanted = next(iter(amounts.values()))
    memory = _memory(draft)
    overhead = _overhead(wanted, memory)
    target = ("spec", "driver", "memoryOverhead")
    fitting = overhead is not None and memory is not None and overhead >= memory.overhead
    same = fitting and memory is not None and overhead == memory.overhead
    settable = fitting and draft.get(*target) is None
    if settable and not same:
        draft.put(target, f"{overhead}m")
    for side, amount in amounts.items():
        source = (*place, *below, side, "memory")
        if amount.value is None:
            draft.tell(Outcome.NEEDLESS, source, amount.position, (), "has no value")
        elif same and amount.text == wanted.text:
            reason = "the same as heap plus overhead"
            draft.tell(Outcome.NEEDLESS, source, amount.position, (), reason)
        elif settable and not same and amount.text != wanted.text:
            reason = "sparkgen sets the same memory as request and limit"
            draft.tell(Outcome.CHANGED, source, amount.position, target, reason)
        elif settable and not same:
            reason = f"heap plus overhead give the server's pod {amount.text}"
            draft.tell(Outcome.REWRITTEN, source, amount.position, target, reason)
        else:
            size = f", {memory.total} MiB" if memory is not None else ""
            reason = f"the pod gets heap plus overhead{size}"
            step = "set `driver.memory` and `driver.memoryOverhead`"
            draft.tell(Outcome.LOST, source, amount.position, (), reason, step)


def _memory(draft: Draft) -> Memory | None:
    """Returns the server's memory; None for invalid sizes, which are reported elsewhere."""
    try:
        return sizes.memory("driver", effective_properties(draft.value["spec"]), "Scala")
    except (GrammarError, ArithmeticError):
        return None


def _overhead(wanted: Node, memory: Memory | None) -> int | None:
    """Returns a pod's memory without the heap, in MiB; None if it cannot be computed."""
    try:
        total = int(quantity.parse(wanted.text) // 2**20)
    except (GrammarError, ArithmeticError):
        return None
    return total - memory.heap if memory is not None else None


def tell_address(draft: Draft, node: Node) -> None:
    """Report in the entry of `kind` whether clients find the server at another address."""
    name = str(draft.get("metadata", "name") or FALLBACK)
    service = node.find(("spec", "server", "service", "metadata", "name"))
    old_address, new_address = service.text if service is not None else f"{name}-server", f"{name}-connect"
    source, position, target = ("kind",), node.entries["kind"].position, ("kind",)
    if old_address == new_address:
        draft.tell(Outcome.REWRITTEN, source, position, target)
        return
    draft.tell(
        Outcome.CHANGED,
        source,
        position,
        target,
        f"the address of the server changes from {old_address} to {new_address}",
        f"change clients to sc://{new_address}:{contract.CONNECT_PORT}, or use `sparkgen connect`",
    )


# The order matters. Templates come before the properties, because the operator itself names the executor's
# container. Dynamic allocation comes after the properties, because they may enable it.
SPEC_ROWS = (
    Row("spec.sparkVersion", "spec.sparkVersion"),
    Row("spec.image", "spec.image"),
    Row("spec.server.template", "spec.driver.template", how=template),
    Row("spec.executor.template", "spec.executor.template", how=template),
    Row("spec.sparkConf", "spec.sparkConf", how=transforms.properties),
    Row("spec.hadoopConf", "spec.hadoopConf", how=hadoop),
    Row("spec.dynamicAllocation", "spec.dynamicAllocation", how=dynamic_allocation),
    Row("spec.server.cores", "spec.driver.cores"),
    Row("spec.server.memory", "spec.driver.memory"),
    Row("spec.executor.cores", "spec.executor.cores"),
    Row("spec.executor.memory", "spec.executor.memory"),
    Row("spec.executor.instances", "spec.executor.instances"),
    *(
        Row(f"spec.server.service.{name}", needless=True, reason="sparkgen creates the Service")
        for name in ("apiVersion", "kind", "status", "metadata.creationTimestamp")
    ),
    Row(
        "spec.server.service.metadata.name",
        needless=True,
        reason="the Service is named after the server; see the finding for `kind` in the report",
    ),
    Row(
        "spec.server.service.metadata.namespace",
        needless=True,
        reason="the operator uses the server's namespace, too",
    ),
    Row("spec.server.service.metadata.annotations", "spec.connect.serviceAnnotations"),
    Row("spec.server.service.metadata.labels", "spec.connect.serviceLabels"),
    Row("spec.server.service.spec.type", "spec.connect.serviceType"),
    Row("spec.server.service.spec.ports", needless=True, reason=_REPLACED),
    Row(
        "spec.server.service.spec.selector",
        needless=True,
        reason="sparkgen selects the server's pod by its own labels",
    ),
    Row(
        "spec.server.service.spec.loadBalancerSourceRanges",
        reason=_SERVICE,
        step="restrict access with `spec.networkPolicy`, or with an annotation that your cloud supports",
    ),
    Row("spec.server.service.spec.sessionAffinity", same=("None",), reason=_SERVICE, step=_SERVICE_STEP),
    Row("spec.server.service.spec.*", reason=_SERVICE, step=_SERVICE_STEP),
)

TABLE = table((*metadata.ROWS, *SPEC_ROWS))
