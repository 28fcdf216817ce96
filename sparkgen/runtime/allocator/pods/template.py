"""Makes the pod of an executor: the rendered template, and what docs/design/contract.md adds. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.jsonvalue import decode
from sparkgen.runtime.allocator.pods.quantities import cores, more_memory
from sparkgen.runtime.allocator.values.actions import Create, NodeWish
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.settings import Pool
from sparkgen.runtime.allocator.values.target import Profile

DEFAULT_GRACE = 30.0
"""Kubernetes' default of terminationGracePeriodSeconds."""


class TemplateError(ValueError):
    """The template, or a resource profile with it, makes no executor pod; the text says what to do."""


def read_template(text: str) -> dict[str, Any]:
    """The pod template (metadata and spec) in the text of executor.json. Raises TemplateError without one."""
    name = contract.EXECUTOR_TEMPLATE_FILE
    again = "render the application again with a release of sparkgen for this runtime image"
    try:
        document = decode(text)
    except ValueError as error:
        raise TemplateError(f"{name} is not valid JSON ({error}): {again}") from None
    template = document.get("template") if isinstance(document, dict) else None
    if not isinstance(template, dict) or document.get("kind") != "PodTemplate":
        raise TemplateError(f"{name} is not a v1 PodTemplate: {again}")
    spec = template.get("spec")
    containers = spec.get("containers") if isinstance(spec, dict) else None
    if not isinstance(containers, list) or not any(map(_is_spark, containers)):
        raise TemplateError(f"{name} has no container {contract.EXECUTOR_CONTAINER}: {again}")
    return template


def grace_of(template: Mapping[str, Any]) -> float:
    """Seconds that an executor's pod, or a pod of this template, has to end after it is told to."""
    given = template["spec"].get("terminationGracePeriodSeconds")
    return float(DEFAULT_GRACE if given is None else given)


def gang_of(template: Mapping[str, Any]) -> int:
    """How many executors are placed together or not at all; 0 if each gets its node on its own.

    Raises TemplateError if that is not a number.
    """
    text = str(_annotations(template).get(contract.ANNOTATION_GANG, "0"))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise TemplateError(
            f"the annotation {contract.ANNOTATION_GANG} of {contract.EXECUTOR_TEMPLATE_FILE} must be a whole "
            f"number, not {text!r}: render the application again"
        )
    return int(text)


def pools_of(template: Mapping[str, Any]) -> tuple[Pool, ...]:
    """The pools of nodes for executors, the preferred one first; () if they may run on any node.

    Raises TemplateError if they are not what sparkgen renders.
    """
    return tuple(Pool(pool["name"], pool["share"]) for pool in _pools(template))


def _pools(template: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = _annotations(template).get(contract.ANNOTATION_POOLS)
    if text is None:
        return []
    try:
        found = decode(text)
    except ValueError:
        found = None
    if not (isinstance(found, list) and found and all(map(_is_pool, found))):
        raise TemplateError(
            f"the annotation {contract.ANNOTATION_POOLS} of {contract.EXECUTOR_TEMPLATE_FILE} must be a list "
            "of pools: render the application again"
        )
    return found


def _is_pool(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    name, share = value.get("name"), value.get("share")
    return isinstance(name, str) and type(share) is int and 0 <= share <= 100


def _annotations(template: Mapping[str, Any]) -> Mapping[str, Any]:
    return (template.get("metadata") or {}).get("annotations") or {}


def executor_pod(
    template: Mapping[str, Any], attempt: Attempt, order: Create, start_url: str, driver_url: str
) -> dict[str, Any]:
    """The pod for `order`. Raises TemplateError if the executor's resource profile cannot be satisfied.

    `template` is the result of `read_template`, and is not changed.
    """
    metadata = template.get("metadata") or {}
    queued = is_queued(template)
    noted = _unclaimed(_annotations(template), queued)
    noted.pop(contract.ANNOTATION_POOLS, None)
    if order.shape is not None or order.added_memory:
        noted.pop(
            contract.ANNOTATION_TASK_GROUP, None
        )  # YuniKorn refuses another size than placeholders have
    if order.added_memory:
        noted[contract.ANNOTATION_ADDED_MEMORY] = f"{order.added_memory}Mi"
    labels = {
        **_unclaimed(metadata.get("labels") or {}, queued),
        contract.LABEL_RUN: attempt.run,
        contract.LABEL_ATTEMPT: attempt.attempt,
        contract.LABEL_APP_ID: attempt.application_id,
        contract.LABEL_EXECUTOR_ID: str(order.id),
        contract.LABEL_PROFILE_ID: str(order.profile),
        **({contract.LABEL_POOL: order.pool} if order.pool else {}),
    }
    env = _added_env(attempt, order, start_url, driver_url)
    spec = template["spec"]
    containers = [
        _spark_container(container, env, order, attempt) if _is_spark(container) else container
        for container in spec["containers"]
    ]
    added = _with_shuffle_secret(spec, attempt) | _with_wishes(spec, order) | _with_pool(template, order)
    if order.gang:
        added["schedulingGroup"] = {"podGroupName": attempt.pod_group}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **metadata,
            **({"annotations": noted} if noted or metadata.get("annotations") else {}),
            "name": attempt.executor_name(order.id),
            "namespace": attempt.namespace,
            "labels": labels,
            # Kueue ignores a pod whose controller is a pod of one of its own workloads, as the driver's pod
            # is.
            "ownerReferences": [{**attempt.owner, "controller": False} if queued else attempt.owner],
        },
        "spec": {**spec, **added, "containers": containers},
    }


def is_queued(template: Mapping[str, Any]) -> bool:
    """Whether executors wait in a queue of Kueue. With only a part of its marks, they would wait forever."""
    metadata = template.get("metadata") or {}
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    return marks.keys() >= set(contract.QUEUE_MARKS)


def _unclaimed(texts: Mapping[str, str], queued: bool) -> dict[str, str]:
    """Labels or annotations without those by which a controller would claim the pod, whoever set them."""
    if queued:
        return {
            k: text
            for k, text in texts.items()
            if k in contract.QUEUE_KEYS or contract.belongs_on_executor(k)
        }
    ours = {key: text for key, text in texts.items() if contract.belongs_on_executor(key)}
    return {key: text for key, text in ours.items() if key not in contract.QUEUE_TOPOLOGY}


def _is_spark(container: Any) -> bool:
    return isinstance(container, dict) and container.get("name") == contract.EXECUTOR_CONTAINER


def _added_env(attempt: Attempt, order: Create, start_url: str, driver_url: str) -> list[dict[str, Any]]:
    values = {
        contract.ENV_EXECUTOR_ID: str(order.id),
        contract.ENV_RESOURCE_PROFILE_ID: str(order.profile),
        contract.ENV_DRIVER_URL: driver_url,
        contract.ENV_APPLICATION_ID: attempt.application_id,
        contract.ENV_START_URL: start_url,
    }
    env: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in values.items()]
    if order.port is not None:
        values = {
            contract.ENV_BLOCK_MANAGER_PORT: str(order.port),
            contract.ENV_SHUFFLE_FOLDER: attempt.shuffle_folder,
        }
        env += [{"name": name, "value": value} for name, value in values.items()]
    return env + _secret(attempt)


def _secret(attempt: Attempt) -> list[dict[str, Any]]:
    if not attempt.secret_name:  # a reference to a Secret that does not exist would block the container
        return []
    secret = {"name": attempt.secret_name, "key": contract.SECRET_KEY}
    return [{"name": contract.ENV_AUTH_SECRET, "valueFrom": {"secretKeyRef": secret}}]


def _with_shuffle_secret(spec: Mapping[str, Any], attempt: Attempt) -> dict[str, Any]:
    """The init containers; the shuffle service among them (mode `sidecar`) gets the application's secret."""
    containers = spec.get("initContainers")
    if not containers:
        return {}
    name, secret = contract.SHUFFLE_CONTAINER, _secret(attempt)
    return {
        "initContainers": [
            {**entry, "env": [*secret, *(entry.get("env") or ())]} if entry.get("name") == name else entry
            for entry in containers
        ]
    }


def _with_pool(template: Mapping[str, Any], order: Create) -> dict[str, Any]:
    """The node selector and tolerations of the pod with those of its pool added."""
    pool = next((one for one in _pools(template) if one["name"] == order.pool), None)
    return {} if pool is None else _in_pool(template["spec"], pool)


def _in_pool(spec: Mapping[str, Any], pool: Mapping[str, Any]) -> dict[str, Any]:
    selector = {**(spec.get("nodeSelector") or {}), **(pool.get("nodeSelector") or {})}
    tolerations = [*(spec.get("tolerations") or ()), *(pool.get("tolerations") or ())]
    added = {"nodeSelector": selector, "tolerations": tolerations}
    return {field: value for field, value in added.items() if pool.get(field)}


def specs_by_pool(template: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The spec of a pod in each pool of the template, by the pool's name; {} without pools."""
    spec = template["spec"]
    return {pool["name"]: {**spec, **_in_pool(spec, pool)} for pool in _pools(template)}


def _with_wishes(spec: Mapping[str, Any], order: Create) -> dict[str, Any]:
    """The affinity with the wishes of `order` added. Without such a node, any other node will do."""
    terms = [{"weight": 100, "preference": _is_node("NotIn", node)} for node in order.avoid] + [
        {"weight": wish.weight, "preference": _is_wished(wish)} for wish in order.wishes
    ]
    if not terms:
        return {}
    affinity = spec.get("affinity") or {}
    of_node = affinity.get("nodeAffinity") or {}
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    return {
        "affinity": {
            **affinity,
            "nodeAffinity": {**of_node, preferred: [*(of_node.get(preferred) or ()), *terms]},
        }
    }


def _is_wished(wish: NodeWish) -> dict[str, Any]:
    if wish.node:
        return _is_node("In", wish.node)
    hostname = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(wish.hostnames)}
    return {"matchExpressions": [hostname]}


def _is_node(operator: str, name: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [name]}]}


def _with_port(container: dict[str, Any], port: int, folder: str) -> dict[str, Any]:
    """The container with its own host port, and with the application's sub-directory in its mounts."""
    reference = f"$({contract.ENV_SHUFFLE_FOLDER})"
    ports = [
        {**entry, "containerPort": port, "hostPort": port}
        if entry.get("name") == contract.BLOCK_MANAGER_PORT_NAME
        else entry
        for entry in container.get("ports") or ()
    ]
    mounts = [
        {
            key: value.replace(reference, folder) if key in ("mountPath", "subPath") else value
            for key, value in mount.items()
        }
        for mount in container.get("volumeMounts") or ()
    ]
    return {**container, "ports": ports, "volumeMounts": mounts}


def _spark_container(
    container: Mapping[str, Any], added: list[dict[str, Any]], order: Create, attempt: Attempt
) -> dict[str, Any]:
    # First, so that the document's own variables may refer to them as $(NAME).
    env = [
        *added,
        *(entry for entry in container.get("env") or () if entry["name"] not in contract.ADDED_BY_ALLOCATOR),
    ]
    result = {**container, "env": env}
    if order.port is not None:
        result = _with_port(result, order.port, attempt.shuffle_folder)
    if order.shape is not None:
        result = _shaped(result, order.profile, order.shape)
    return _with_memory(result, order.added_memory) if order.added_memory else result


def _with_memory(container: dict[str, Any], added: int) -> dict[str, Any]:
    """The container with more memory (MiB), outside the Java heap: its size stays as it is."""
    resources = container.get("resources") or {}
    raised = {
        side: {**amounts, "memory": _more_memory(amounts["memory"], added)}
        for side, amounts in resources.items()
        if side in ("requests", "limits") and amounts and "memory" in amounts
    }
    return {**container, "resources": {**resources, **raised}}


def _more_memory(amount: Any, added: int) -> str:
    larger = more_memory(amount, added)
    if larger is None:
        raise TemplateError(
            f"cannot add {added} MiB to the executor's memory {str(amount)!r}: write it as in 1408Mi"
        )
    return larger


def _shaped(container: dict[str, Any], profile: int, shape: Profile) -> dict[str, Any]:
    """The container with the cores, memory and custom resources of a resource profile.

    Source: BasicExecutorFeatureStep. If the cores are those of the template, its CPU request stays as
    reviewed; Spark would replace it by the number of cores.
    """
    resources = container.get("resources") or {}
    requests, limits = dict(resources.get("requests") or {}), dict(resources.get("limits") or {})
    custom = _custom_resources({**requests, **limits}, profile, shape)
    requests, limits = ({k: v for k, v in part.items() if not _is_custom(k)} for part in (requests, limits))
    if _env_value(container, contract.ENV_EXECUTOR_CORES) != str(shape.cores):
        requests["cpu"] = str(shape.cores)
        limit = cores(limits.get("cpu"))
        if limit is not None and limit < shape.cores:  # the API server refuses a limit below the request
            limits["cpu"] = str(shape.cores)
    memory = f"{shape.memory + shape.overhead + shape.pyspark + shape.off_heap}Mi"
    requests["memory"] = limits["memory"] = memory
    changed = {
        contract.ENV_EXECUTOR_CORES: str(shape.cores),
        contract.ENV_EXECUTOR_MEMORY: f"{shape.memory}m",
    }
    kept = [entry for entry in container["env"] if entry["name"] not in changed]
    return {
        **container,
        "env": [*kept, *({"name": name, "value": value} for name, value in changed.items())],
        "resources": {**resources, "requests": requests, "limits": {**limits, **custom}},
    }


def _custom_resources(template: Mapping[str, Any], profile: int, shape: Profile) -> dict[str, str]:
    """The profile's custom resources by Kubernetes' names ("nvidia.com/gpu").

    The template's own belong to the default profile: another profile gets what it asks for, as with Spark.
    """
    result = {}
    for name, amount in sorted(shape.resources.items()):
        names = [name] if "/" in name else [key for key in template if key.endswith(f"/{name}")]
        if len(names) != 1:
            raise TemplateError(
                f"resource profile {profile} asks for {amount} x {name!r}, but "
                + (
                    f"{name!r} could mean {' or '.join(names)}"
                    if names
                    else f"the Kubernetes name of {name!r} is unknown"
                )
                + f": set spark.executor.resource.{name}.amount and .vendor in spec.sparkConf, or set the "
                "vendor of the request in the program"
            )
        result[names[0]] = str(amount)
    return result


def _is_custom(resource: str) -> bool:
    """Whether it is an extended resource for Kubernetes: a name with a domain that is not Kubernetes' own."""
    domain, slash, _ = resource.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _env_value(container: Mapping[str, Any], name: str) -> str | None:
    values = [entry.get("value") for entry in container["env"] if entry["name"] == name]
    return values[-1] if values else None
