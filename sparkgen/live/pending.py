"""Why a driver does not start: its pod cannot be created, scheduled or started. Pure."""

from __future__ import annotations

import re

from sparkgen import contract
from sparkgen.codes import Code, unmarked
from sparkgen.live import gangs
from sparkgen.live.facts import RunFacts, time_of
from sparkgen.live.pod_reasons import (
    DRIVER,
    SESSION,
    artifact_waits,
    bad_artifact,
    container_waits,
    missing,
    no_node,
    refusal,
)
from sparkgen.live.reason import Reason, detail
from sparkgen.live.values import containers, status_of, waiting
from sparkgen.model import key_fields
from sparkgen.objects import ObjectView

OURS = (*contract.DRIVER_HELPERS, contract.FETCH_CONTAINER)
"""Containers of the runtime image."""
_PULLS = ("Pulling", "Pulled", "Failed", "BackOff")
"""Reasons of the kubelet's Events about images."""
_ABSENT_KEY = re.compile(r"references non-existent (secret|config) key: (\S+)")
_OF_VOLUME = re.compile(r'for volume "([^"]+)"')
_QUOTED = re.compile(r'"([^"]+)"')


def why_pending(facts: RunFacts) -> Reason | None:
    """Returns what the driver waits for; None if it is about to start."""
    pod = facts.run.driver
    if pod is None:
        return never_made(facts)
    placed = bool(pod["spec"].get("nodeName"))
    if facts.gang is not None and not placed and (reason := gangs.driver_waits(facts.gang)):
        return reason
    scheduled: ObjectView = next(
        (one for one in status_of(pod).get("conditions") or () if one.get("type") == "PodScheduled"), {}
    )
    if scheduled.get("status") == "False":
        if scheduled.get("reason") == "SchedulingGated":
            return Reason(
                "gated",
                "its pod has a scheduling gate",
                "wait for its queue or controller to remove the gate",
            )
        return no_node(str(scheduled.get("message") or ""), _who(facts))
    return (
        _containers_wait(pod, _who(facts)) or _waits_for_a_run(pod) or _not_mounted(facts) or _pulled(facts)
    )


def _waits_for_a_run(pod: ObjectView) -> Reason | None:
    for status in containers(pod):
        if status["name"] == contract.CONCURRENCY_CONTAINER and (status.get("state") or {}).get("running"):
            return Reason(
                "concurrency",
                "another run of the application is active, and spec.concurrencyPolicy lets it end first",
                f"wait, or see which: kubectl logs {pod['metadata']['name']} -c {status['name']}",
            )
    return None


def _who(facts: RunFacts) -> str:
    return SESSION if contract.is_session(facts.run.workload) else DRIVER


def never_made(facts: RunFacts) -> Reason | None:
    """Returns why the Job, or the Deployment, cannot create the driver's pod; None if no Event shows it."""
    for event in reversed(facts.events):
        if event.get("reason") == "FailedCreate":
            message = str(event.get("message") or "")
            said = message.removeprefix("Error creating: ")
            return refusal(message, _who(facts)) or Reason(
                "refused",
                f"the {_who(facts)}'s pod cannot be created ({detail(said)})",
                "fix what the API server names",
            )
    return None


def _field(pod: ObjectView) -> str:
    """Returns the field of the document that names the image of sparkgen's containers."""
    volumes = pod["spec"].get("volumes") or ()
    mounted = any(volume.get("name") == contract.RUNTIME_VOLUME for volume in volumes)
    return "pythonImage" if mounted else "runtimeImage"


def _containers_wait(pod: ObjectView, who: str) -> Reason | None:
    images = {
        one["name"]: str(one.get("image") or "")
        for kind in ("initContainers", "containers")
        for one in pod["spec"].get(kind) or ()
    }
    artifacts = [
        str(one["image"].get("reference"))
        for one in pod["spec"].get("volumes") or ()
        if one.get("image") and str(one.get("name")).startswith(contract.ARTIFACT_VOLUME_PREFIX)
    ]
    for status in containers(pod):
        name, waits = str(status["name"]), waiting(status)
        reason, message = str(waits.get("reason") or ""), str(waits.get("message") or "")
        if waits_for := artifact_waits(reason, message, artifacts):
            return waits_for
        if waits_for := container_waits(reason, message, who, images.get(name, "")):
            runtime = name in OURS
            if waits_for.code == "image" and runtime:
                return Reason(
                    waits_for.code,
                    waits_for.cause,
                    waits_for.next_step.replace("spec.image,", f"spec.{_field(pod)},"),
                )
            return waits_for
        last = (status.get("lastState") or {}).get("terminated") or {}
        if reason == "CrashLoopBackOff" and last.get("exitCode"):
            return init_ended(name, last)
    return None


def _not_mounted(facts: RunFacts) -> Reason | None:
    """Finds a volume that cannot be mounted: the kubelet's Event shows it, and the pod's status does not."""
    for event in reversed(facts.events):
        if event.get("reason") in ("FailedMount", "FailedAttachVolume"):
            message = str(event.get("message") or "")
            return (
                missing(message, _who(facts))
                or _no_key(facts, message)
                or Reason(
                    "volume",
                    f"a volume of the {_who(facts)} cannot be mounted ({detail(message)})",
                    "fix spec.volumes",
                )
            )
    return None


def _no_key(facts: RunFacts, message: str) -> Reason | None:
    """Finds a Secret or ConfigMap without the key that a volume takes from it; None for another message."""
    key, volume_match = _ABSENT_KEY.search(message), _OF_VOLUME.search(message)
    if key is None or volume_match is None or facts.run.driver is None:
        return None
    volumes = facts.run.driver["spec"].get("volumes") or ()
    volume: ObjectView = next((one for one in volumes if one.get("name") == volume_match[1]), {})
    if key[1] == "secret":
        name = str((volume.get("secret") or {}).get("secretName") or "")
        cause, code = f"the Secret {name or volume_match[1]} has no key {key[2]}", "secret"
    else:
        name = str((volume.get("configMap") or {}).get("name") or "")
        cause, code = f"the ConfigMap {name or volume_match[1]} has no key {key[2]}", "config-map"
    return Reason(code, cause, f"fix {key_fields.of_volume(volume)}, or add the key")


def _pulled(facts: RunFacts) -> Reason | None:
    """Finds a pull that goes on or has failed: only Events show it until the kubelet's first try fails."""
    last = next((event for event in reversed(facts.events) if event.get("reason") in _PULLS), {})
    message = str(last.get("message") or "")
    image = next(iter(_QUOTED.findall(message)), "")
    if last.get("reason") == "Failed" and message.startswith("Failed to pull image"):
        said = message.partition(": ")[2]
        return container_waits("ErrImagePull", said, _who(facts), image)
    if last.get("reason") == "Pulling" and image:
        step = f"wait; if it takes too long, check that the node reaches the registry and that {image} exists"
        return Reason("pulling", f"its node pulls the image {image} (since {time_of(last)})", step)
    return None


def init_ended(name: str, end: ObjectView) -> Reason:
    """Returns why an init container, or the allocator, ended."""
    message, code = str(end.get("message") or ""), end["exitCode"]
    if name not in OURS:
        said = f" ({detail(message)})" if message else f" (exit code {code})"
        cause = f"the init container {name} failed{said}"
        return Reason("init", cause, f"read its log: kubectl logs POD -c {name}")
    why, text = unmarked(message)
    cause, _, step = text.partition("\n")
    if why == Code.RUN_EXPIRED:
        return Reason("expired", detail(cause), detail(step))
    if why == Code.BAD_ARTIFACT:
        return bad_artifact(cause, step)
    if why == Code.REGISTRY_AWAY:
        return Reason("registry", detail(cause), detail(step))
    said = detail(cause) or f"exit code {code}"
    return Reason(name, f"{name} does not start the driver ({said})", detail(step))
