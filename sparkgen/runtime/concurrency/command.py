"""`sparkgen-runtime concurrency`: waits until no other driver of the application runs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.killing import KILLED, killing
from sparkgen.runtime.concurrency.decide import REPLACE, DriverSeen, Turn, TurnSeen, turn
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.files import replace_file
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply
from sparkgen.runtime.kubernetes.paging import pages
from sparkgen.runtime.kubernetes.transport import MERGE_PATCH, Calls
from sparkgen.runtime.kubernetes.untrusted import Malformed, mapping, name_in, objects

PAGES, MAX_PAGES = (20, 5, 1), 1000
PAUSE_SECONDS = 3.0
REFUSALS = 40
"""How many looks may be refused one after the other: a Role or the ConfigMap may come two minutes later."""
_REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
READABLE = 0o644
NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"
"""The pods that are listed: those of earlier runs stay for as long as their Jobs."""
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")
"""A name that is one part of a path: with any other character, the API server might read it as two."""

_NEEDED = (contract.ENV_APPLICATION, contract.ENV_POD_NAME, contract.ENV_POD_NAMESPACE, contract.ENV_POD_UID)


class Unanswered(Exception):
    """A call that failed; the text says why. `lasting`: it may be refused each time."""

    def __init__(self, text: str, *, lasting: bool = False) -> None:
        super().__init__(text)
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one look has found.

    `version`: the ConfigMap's resourceVersion; `own`: this pod; `newest`: the newest Job that had its turn.
    """

    own: DriverSeen
    others: tuple[DriverSeen, ...]
    turn: TurnSeen
    version: str
    newest: tuple[str, ...] = ()


def wait(
    api: Calls,
    environment: Mapping[str, str],
    now: Callable[[], datetime],
    say: Callable[[str], object],
    sleep: Callable[[float], object] = time.sleep,
    target: Path = Path(contract.ATTEMPT_FILE),
) -> None:
    """Return when this pod's driver may start; its number is in the file `target` then.

    Raises Refused if the environment is incomplete, or if the API server refuses for two minutes.
    """
    check_contract(environment)
    if missing := [name for name in _NEEDED if not environment.get(name)]:
        raise Refused(f"missing environment variables: {', '.join(missing)}; use the pod as it is rendered")
    policy, look = environment.get(contract.ENV_CONCURRENCY_POLICY, ""), _Look(api, environment)
    said, refusals, taken = "", 0, False
    while refusals < REFUSALS:
        try:
            found = look.gather()
            decided = turn(found.own, found.others, found.turn, policy)
            if decided.go is not None:
                replace_file(target, f"{decided.go}\n", READABLE)
                say(f"no other run is active; this is attempt {decided.go} of the application")
                return
            ended = look.act(decided, found, now())
            refusals, text = 0, _text(decided, ended)
            if taken and decided.take is not None:
                text = text or f"{look.turn} does not keep whose turn it is; does a webhook change it?"
            taken = decided.take is not None
        except (Unanswered, CallFailed, Malformed) as error:
            text = str(error)
            refusals += isinstance(error, Malformed) or (isinstance(error, Unanswered) and error.lasting)
        if text not in ("", said):
            say(text)
            said = text
        if text:
            sleep(PAUSE_SECONDS)
    raise Refused(
        said, "apply all rendered manifests of the application again, its Role and ConfigMaps included"
    )


def _text(decided: Turn, ended: Iterable[str]) -> str:
    """What the pod waits for, after these Jobs were ended; "" if it waits for nothing."""
    said = f"; ended: {', '.join(ended)}" if ended else ""
    return f"waiting for the end of {', '.join(decided.ahead)}{said}" if decided.ahead else ""


class _Look:
    """The calls of one look, and of what is decided."""

    def __init__(self, api: Calls, environment: Mapping[str, str]) -> None:
        self._api = api
        self._namespace = environment[contract.ENV_POD_NAMESPACE]
        self._uid = environment[contract.ENV_POD_UID]
        self._own = environment[contract.ENV_POD_NAME]
        self._run = environment.get(contract.ENV_RUN, "")
        self._replaces = environment.get(contract.ENV_CONCURRENCY_POLICY) == REPLACE
        self._application = environment[contract.ENV_APPLICATION]
        self._selector = f"{contract.LABEL_APPLICATION}={self._application},{contract.LABEL_COMPONENT}=driver"
        self._pods = f"/api/v1/namespaces/{self._namespace}/pods"
        config_maps = f"/api/v1/namespaces/{self._namespace}/configmaps"
        self.turn = f"{config_maps}/{self._application}{contract.TURN_SUFFIX}"

    def gather(self) -> Gathered:
        """Read whose turn it is first: a holder that the later list of pods does not have is over."""
        metadata = mapping(self._call("GET", self.turn).body.get("metadata"), "metadata")
        annotations = mapping(metadata.get("annotations"), "annotations")
        seen, newest = _turn_in(annotations), name_in(annotations, contract.ANNOTATION_NEWEST)
        drivers = [
            driver
            for reply in pages(
                lambda query: self._call("GET", self._pods, query={**query, "fieldSelector": NOT_ENDED}),
                PAGES,
                MAX_PAGES,
                self._selector,
            )
            for item in objects(reply.body.get("items"), "items")
            if (driver := _readable(item)) is not None
        ]
        named = {one.identity: one for one in drivers}
        if seen.holder and seen.holder not in named and (holder := self._holder(seen.holder)) is not None:
            drivers.append(holder)  # somebody has removed its labels
        own = next((one for one in drivers if one.uid == self._uid), None)
        if own is None:
            text = f"the pod {self._own} is not among the application's drivers, or has ended"
            raise Unanswered(text, lasting=True)
        others = tuple(one for one in drivers if one.uid != self._uid)
        return Gathered(own, others, seen, name_in(metadata, "resourceVersion"), tuple(newest.split()))

    def _holder(self, identity: str) -> DriverSeen | None:
        """The pod of an identity, if it has not ended."""
        name = identity.rpartition("_")[0]
        if not _NAME.fullmatch(name):
            return None  # no pod has written it
        reply = self._api.call("GET", f"{self._pods}/{name}")
        if reply.status == HTTPStatus.NOT_FOUND:
            return None
        driver = driver_of(_answered("GET", self._pods, reply).body)
        return driver if driver is not None and driver.identity == identity else None

    def act(self, decided: Turn, found: Gathered, now: datetime) -> list[str]:
        """Take the turn, or end Jobs; returns their names. What fails is tried again in the next look."""
        if decided.take is not None:
            annotations = {
                contract.ANNOTATION_HOLDER: found.own.identity,
                contract.ANNOTATION_TURNS: str(decided.take),
                **self._newest(found, now),
            }
            metadata = {"resourceVersion": found.version, "annotations": annotations}
            self._call("PATCH", self.turn, body={"metadata": metadata}, headers=MERGE_PATCH)
        ended = (self._end(name, uid, found.own, now) for name, uid in sorted(decided.ends))
        return sorted({name for name in ended if name})

    def _newest(self, found: Gathered, now: datetime) -> dict[str, str]:
        """With `Replace`, the annotation that makes this pod's Job the newest; {} without a Job.

        If a newer Job has had its turn, even if it has ended since, this one gives way to it. Raises
        Unanswered then, and if the Job has been ended: the pod takes no turn, and ends with its Job.
        """
        mine = self._any_job(*found.own.job) if self._replaces and found.own.job[0] else None
        if mine is None:
            return {}
        if _is_ended(mine):
            raise Unanswered("this run has been ended")
        if found.newest[:2] > _age(mine):
            newer = found.newest[-1]
            self._kill(mine, now, newer)
            raise Unanswered(f"the run {newer} is newer, and has had its turn: this one ends")
        return {contract.ANNOTATION_NEWEST: " ".join((*_age(mine), _run_of(mine)))}

    def _end(self, name: str, uid: str, own: DriverSeen, now: datetime) -> str:
        """End a Job of this application, or the own one if that is older: its retry comes after a newer run.

        A pod without a Job, such as that of a Deployment, ends only Jobs that are older than itself.
        Returns the name of the Job that it has ended; "" if that is gone, or has been ended already.
        """
        other, has_job = self._job(name, uid), bool(own.job[0])
        mine = None if other is None or not has_job else self._job(*own.job)
        if other is None or (has_job and mine is None):
            return ""
        if not has_job and _age(other) > own.place:
            return ""
        ended, by = other, self._run
        if mine is not None and _age(mine) < _age(other):
            ended, by = mine, _run_of(other)
        return self._kill(ended, now, by)

    def _kill(self, job: dict[str, Any], now: datetime, by: str) -> str:
        """End a Job for the run `by`, as `sparkgen kill` does; returns the Job's name."""
        name, patch = name_in(job["metadata"], "name"), killing(job, now, by)
        patch["metadata"]["resourceVersion"] = name_in(job["metadata"], "resourceVersion")
        self._call("PATCH", self._path(name), body=patch, headers=MERGE_PATCH)
        return name

    def _job(self, name: str, uid: str) -> dict[str, Any] | None:
        """A Job of this application that has not been ended; None for any other."""
        job = self._any_job(name, uid)
        return None if job is None or _is_ended(job) else job

    def _any_job(self, name: str, uid: str) -> dict[str, Any] | None:
        """A Job of this application; None for any other: a pod may name any owner."""
        path = self._path(name)
        reply = self._api.call("GET", path)
        if reply.status == HTTPStatus.NOT_FOUND:
            return None
        job = _answered("GET", path, reply).body
        metadata = mapping(job.get("metadata"), "metadata")
        labels = mapping(metadata.get("labels"), "labels")
        if metadata.get("uid") != uid or labels.get(contract.LABEL_APPLICATION) != self._application:
            return None
        return {"kind": "Job", "metadata": metadata, "spec": mapping(job.get("spec"), "spec")}

    def _path(self, job: str) -> str:
        return f"/apis/batch/v1/namespaces/{self._namespace}/jobs/{job}"

    def _call(self, method: str, path: str, **options: Any) -> Reply:
        return _answered(method, path, self._api.call(method, path, **options))


def _answered(method: str, path: str, reply: Reply) -> Reply:
    if reply.status >= HTTPStatus.MULTIPLE_CHOICES:
        lasting = reply.status in _REFUSALS
        raise Unanswered(f"{method} {path}: {reply.status} {reply.message}", lasting=lasting)
    return reply


def _turn_in(annotations: Mapping[str, Any]) -> TurnSeen:
    """Whose turn it is; nobody's yet in a new ConfigMap. Raises Malformed."""
    turns = name_in(annotations, contract.ANNOTATION_TURNS) or "0"
    if not re.fullmatch(r"[0-9]{1,18}", turns):
        raise Malformed(f"the annotation {contract.ANNOTATION_TURNS} is no whole number")
    return TurnSeen(name_in(annotations, contract.ANNOTATION_HOLDER), int(turns))


def _readable(pod: Mapping[str, Any]) -> DriverSeen | None:
    """The same as `driver_of`; None for a pod that no API server writes. The holder is read by its name."""
    try:
        return driver_of(pod)
    except Malformed:
        return None


def _is_ended(job: Mapping[str, Any]) -> bool:
    """Whether a Job has been ended as by `sparkgen kill`."""
    return KILLED in mapping(job["metadata"].get("annotations"), "annotations")


def _age(job: Mapping[str, Any]) -> tuple[str, str]:
    """The place of a Job among those of its application: earlier ones first."""
    metadata = job["metadata"]
    return name_in(metadata, "creationTimestamp"), name_in(metadata, "uid")


def _run_of(job: Mapping[str, Any]) -> str:
    """The run's name, which is on its Job; else the Job's."""
    metadata = job["metadata"]
    return name_in(mapping(metadata.get("labels"), "labels"), contract.LABEL_RUN) or name_in(metadata, "name")


def trim_decoded(value: dict[str, Any]) -> Any:
    """Replaces an object while JSON is decoded: a pod by what `driver_of` reads, whatever else is in it."""
    metadata, spec, status = value.get("metadata"), value.get("spec"), value.get("status")
    if not (isinstance(metadata, dict) and isinstance(spec, dict) and "containers" in spec):
        return value
    kept = ("name", "uid", "creationTimestamp", "deletionTimestamp")
    status = status if isinstance(status, dict) else {}
    owners = _named(metadata, "ownerReferences", ("kind", "name", "uid", "controller"))
    return {
        "metadata": {
            **{key: metadata[key] for key in kept if key in metadata},
            "ownerReferences": [one for one in owners if one.get("controller") is True],
        },
        "spec": {"initContainers": _named(spec, "initContainers", ("name",))},
        "status": {
            "phase": status.get("phase"),
            "initContainerStatuses": _named(status, "initContainerStatuses", ("name", "state")),
        },
    }


def _named(values: Mapping[str, Any], key: str, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    """These fields of the objects in a list. Other entries are left out: no API server writes them."""
    found = values.get(key)
    entries = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [{field: one[field] for field in fields if field in one} for one in entries]


def driver_of(pod: Mapping[str, Any]) -> DriverSeen | None:
    """A pod of the API server as a value; None if it has ended. Raises Malformed."""
    metadata, status = mapping(pod.get("metadata"), "metadata"), mapping(pod.get("status"), "status")
    if name_in(status, "phase") in ("Succeeded", "Failed"):
        return None
    owners = objects(metadata.get("ownerReferences"), "ownerReferences")
    controllers = [one for one in owners if one.get("kind") == "Job" and one.get("controller") is True]
    jobs = [(name_in(one, "name"), name_in(one, "uid")) for one in controllers]
    jobs = [job for job in jobs if _NAME.fullmatch(job[0])]
    waits, runs = _container(mapping(pod.get("spec"), "spec"), status)
    return DriverSeen(
        name_in(metadata, "name"),
        name_in(metadata, "uid"),
        name_in(metadata, "creationTimestamp"),
        jobs[0] if jobs else ("", ""),
        waits,
        queues=runs and not metadata.get("deletionTimestamp"),
    )


def _container(spec: Mapping[str, Any], status: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether the pod has this program's container, which has not ended well; and whether that runs."""
    names = [one.get("name") for one in objects(spec.get("initContainers"), "initContainers")]
    if contract.CONCURRENCY_CONTAINER not in names:
        return False, False
    statuses = objects(status.get("initContainerStatuses"), "initContainerStatuses")
    own = [one for one in statuses if one.get("name") == contract.CONCURRENCY_CONTAINER]
    states = [mapping(one.get("state"), "state") for one in own]
    ended = [mapping(state.get("terminated"), "terminated") for state in states]
    waits = not any(one.get("exitCode") == 0 for one in ended)
    return waits, waits and any(state.get("running") is not None for state in states)
