"""What a row of a table cannot say in words: functions from a value and its place to values of the draft."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sparkgen.document import Node
from sparkgen.importing.draft import Property
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import ROLES, Take, copy

_WAITS = "Kubernetes waits 10 s, 20 s, 40 s and so on between tries"


def properties(given: Take) -> None:
    """Spark properties: taken apart later, when every typed field is there."""
    for key, child in given.node.entries.items():
        if child.value is None:
            given.at(key).needless("has no value")
        else:
            text = child.text if not (child.is_mapping or child.is_list) else str(child.value)
            given.draft.properties.append(Property(key, text, (*given.path, key), child.position))


def both_roles(given: Take) -> None:
    """One entry of a mapping for driver and executors; what a role says itself wins."""
    key = given.keys[0]
    placed = []
    for role in ROLES:
        target = ("spec", role, str(given.target[-2]), key)
        if key not in (given.draft.get(*(str(part) for part in target[:-1])) or {}):
            given.draft.put(target, given.node.value)
            placed.append(target)
    if placed:
        given.tell(Outcome.CARRIED, placed[0])
    else:
        given.needless("each role says it itself, and that wins")


def listed_variables(given: Take) -> None:
    """A mapping of variables, as a list."""
    for key, child in given.node.entries.items():
        _variable(given.at(key), {"name": key, "value": child.text})


def listed_secret_variables(given: Take) -> None:
    """A mapping of variables to keys of Secrets, as a list."""
    for key, child in given.node.entries.items():
        reference = {name: item.value for name, item in child.entries.items()}
        _variable(given.at(key), {"name": key, "valueFrom": {"secretKeyRef": reference}})


def _variable(given: Take, variable: dict[str, Any]) -> None:
    target = ("spec", given.role, "env")
    if given.draft.item(target, variable["name"]) is not None:
        given.lost("`env` has a variable of this name as well", "keep the one that is meant")
        return
    given.draft.put(target, [variable])
    given.tell(Outcome.CARRIED, target)


OwnFields = Callable[[Take, Mapping[str, Any]], Mapping[str, Any]]


def template(given: Take, own_fields: OwnFields | None = None) -> None:
    """A pod template: its account has a field of its own here, and Spark's container a name of its own.

    `own_fields` takes out of Spark's container, which it is given with its place, what does not stay there.
    """
    spec = given.node.find(("spec",))
    if spec is None or not spec.is_mapping:
        copy(given)
        return
    value = {**given.node.value, "spec": dict(spec.value)}
    field = ("spec", given.role, "serviceAccount")
    named, old = (spec.entries.get(key) for key in ("serviceAccountName", "serviceAccount"))
    if named is not None and named.text and old is not None:
        del value["spec"]["serviceAccount"]
        given.at("spec", "serviceAccount").needless("`serviceAccountName` is there, which wins")
        old = None
    for key, account in (("serviceAccountName", named), ("serviceAccount", old)):
        if account is not None and account.text and given.draft.get(*field) is None:
            del value["spec"][key]
            given.at("spec", key).put(field, account.text)
    wanted = f"spark-kubernetes-{given.role}"
    index = spark_container(spec, wanted, _container_name(given))
    if index is not None:
        item = spec.value["containers"][index]
        containers = value["spec"]["containers"] = list(spec.value["containers"])
        place = given.at("spec", "containers", index)
        containers[index] = {**(own_fields(place, item) if own_fields else item), "name": wanted}
    given.put(given.target, value)
    if index is not None and item.get("name") != wanted:
        was = f"the container {item['name']!r}" if item.get("name") else "the first container"
        name = place.at("name") if item.get("name") else place
        name.tell(Outcome.REWRITTEN, given.target, f"{was} is Spark's, which is named {wanted} here")


def spark_container(spec: Node, wanted: str, chosen: str = "") -> int | None:
    """Which container of a template's spec is Spark's; None if there is none.

    Native Spark takes the one that is named to it, or else the first (KubernetesUtils.selectSparkContainer).
    """
    containers = spec.entries.get("containers")
    items = containers.items if containers is not None else []
    names = [item.value.get("name") if item.is_mapping else None for item in items]
    if not items or not all(item.is_mapping for item in items):
        return None
    return next((names.index(name) for name in (wanted, chosen) if name in names), 0)


def _container_name(given: Take) -> str:
    name = f"spark.kubernetes.{given.role}.podTemplateContainerName"
    return next((item.text for item in given.draft.properties if item.name == name), "")


def restart(given: Take) -> None:
    """Kubeflow's restart policy: `OnFailure` without a count retries nothing, there as here."""
    kind = given.node.entries.get("type")
    word = kind.text if kind is not None and kind.text else "Never"
    for field, child in given.node.entries.items():
        part = given.at(field)
        if child.value is None:
            part.needless("says nothing")
        elif field == "type":
            _restart_type(part, word)
        elif field == "onFailureRetries":
            if word == "OnFailure":
                part.put(("spec", "restartPolicy", "onFailureRetries"), child.value)
            else:
                part.needless(f"the operator reads it with OnFailure only, and the type is {word}")
        elif field.startswith("onSubmissionFailure"):
            part.needless("nothing is submitted here, so that no submission can fail")
        elif field == "onFailureRetryInterval":
            if word == "Never":
                part.needless("nothing is retried")
            else:
                part.lost(f"the time between tries cannot be set: {_WAITS}", "delete it")
        else:
            part.lost("no field of this name is known in this format", "look for what it was meant to do")


def _restart_type(given: Take, word: str) -> None:
    target = ("spec", "restartPolicy", "type")
    if word != "Always":
        given.put(target, word)
    elif given.draft.scheduled:
        given.lost(
            "a scheduled run cannot start again forever", "leave the next run to the schedule, or drop it"
        )
    else:
        given.put(
            target,
            word,
            Outcome.CHANGED,
            "becomes a Deployment: the driver starts again whenever it ended, and there is no last try",
        )


def time_to_live(given: Take) -> None:
    """When what has ended is deleted: the resource there, the driver's Job here."""
    policy = given.draft.get("spec", "restartPolicy", "type")
    if policy == "Always":
        given.lost("a Deployment never ends, so that nothing is deleted after it", "delete it")
        return
    given.put(
        given.target,
        given.node.value,
        Outcome.CHANGED,
        "deletes the driver's Job; under Argo CD or Flux the Job is made, and runs, again",
    )


def milliseconds_to_live(given: Take) -> None:
    """A time in milliseconds, as whole seconds; a negative one means forever."""
    value = given.node.value
    if not isinstance(value, int) or isinstance(value, bool):
        given.lost("is no whole number", "set `timeToLiveSeconds`")
    elif value < 0:
        given.needless("less than 0 means that nothing is deleted")
    else:
        given.put(
            given.target,
            math.ceil(value / 1000),
            Outcome.CHANGED,
            "deletes the driver's Job; under Argo CD or Flux the Job is made, and runs, again",
        )


def schedule(given: Take) -> None:
    """A cron expression of robfig/cron: Kubernetes has the same, but takes the time zone apart."""
    text = given.node.text.strip()
    zone = ""
    if text.startswith(("CRON_TZ=", "TZ=")):
        head, _, text = text.partition(" ")
        zone = head.partition("=")[2]
        given.draft.put(("outer", "timeZone"), zone)
    if text.startswith("@every"):
        given.put(
            given.target,
            text,
            Outcome.CHANGED,
            "counts from the creation of the CronJob; */15 * * * * would keep the clock's times",
        )
        return
    if zone:
        given.put(given.target, text.strip(), Outcome.REWRITTEN, "its time zone has a field of its own here")
    else:
        given.put(given.target, text)


def time_zone(given: Take) -> None:
    """A time zone by its name; `Local` is that of the operator's pod, which mostly is UTC."""
    if given.node.text == "Local":
        given.needless("`Local` is the zone of the controller, there as here")
    elif given.draft.get("outer", "timeZone"):
        given.needless("the schedule names a zone itself, and that wins")
    else:
        copy(given)


def disruption_budget(given: Take) -> None:
    """A budget for the driver: one kind is rendered here, which keeps the one driver there is."""
    if given.node.value is False:
        given.needless("no budget is asked for")
        return
    target = ("spec", "podDisruptionBudget")
    given.draft.put(target, {"enabled": True})
    if given.node.value is True:
        given.tell(Outcome.CARRIED, target)
    else:
        given.tell(Outcome.CHANGED, target, "keeps the one driver there is, whatever its numbers said")


def batch_scheduler(given: Take) -> None:
    """A scheduler for groups of pods: one that is known here, or else its name for the pods."""
    name, target = given.node.text, ("spec", "batchScheduler")
    if name == "kube-scheduler":
        told = "a gang of Kubernetes' own (1.36) takes the place of the coscheduling plugin's PodGroup"
        given.put(target, name, Outcome.CHANGED, told)
        return
    if name in ("volcano", "yunikorn"):
        given.put(target, name)
        return
    for role in ROLES:
        if given.draft.get("spec", role, "schedulerName") is None:
            given.draft.put(("spec", role, "schedulerName"), given.node.text)
    given.tell(
        Outcome.CHANGED,
        ("spec", "driver", "schedulerName"),
        "the pods go to this scheduler one by one: the operator's group (gang) is not made",
        "make the group or queue that the scheduler expects, and name it in labels or annotations",
    )


def comma_list(given: Take) -> None:
    """Texts with commas between them, as a list."""
    given.put(given.target, [part.strip() for part in given.node.text.split(",") if part.strip()])
