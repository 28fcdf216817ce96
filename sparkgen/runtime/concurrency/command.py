"""`sparkgen-runtime concurrency`: waits until no other driver of the application runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sparkgen import contract
from sparkgen.killing import KILLED, killing
from sparkgen.runtime.concurrency.decide import DriverSeen, LeaseSeen, Turn, turn
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.files import replace_file
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply
from sparkgen.runtime.kubernetes.paging import pages
from sparkgen.runtime.kubernetes.transport import MERGE_PATCH, Calls
from sparkgen.runtime.kubernetes.untrusted import Malformed, mapping, name_in, number_in, objects

PAGES, MAX_PAGES = (20, 5, 1), 1000
PAUSE_SECONDS = 3.0
REFUSALS = 40
"""How many looks may be refused one after the other: a Role or a Lease may come two minutes later."""
_REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
READABLE = 0o644

_NEEDED = (contract.ENV_APPLICATION, contract.ENV_POD_NAME, contract.ENV_POD_NAMESPACE, contract.ENV_POD_UID)


class Unanswered(Exception):
    """A call that failed; the text says why. `lasting`: it may be refused each time."""

    def __init__(self, text: str, *, lasting: bool = False) -> None:
        super().__init__(text)
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one look has found. `version`: the Lease's resourceVersion; `own`: this pod."""

    own: DriverSeen
    others: tuple[DriverSeen, ...]
    lease: LeaseSeen
    version: str


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
    said, refusals = "", 0
    while refusals < REFUSALS:
        try:
            found = look.gather()
            decided = turn(found.own, found.others, found.lease, policy)
            if decided.go is not None:
                replace_file(target, f"{decided.go}\n", READABLE)
                say(f"no other run is active; this is attempt {decided.go} of the application")
                return
            ended = look.act(decided, found, now())
            refusals, text = 0, _text(decided, ended)
        except (Unanswered, CallFailed, Malformed) as error:
            text = str(error)
            refusals += isinstance(error, Malformed) or (isinstance(error, Unanswered) and error.lasting)
        if text not in ("", said):
            say(text)
            said = text
        if text:
            sleep(PAUSE_SECONDS)
    raise Refused(said, "apply all rendered manifests of the application again, its Role and Lease included")


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
        self._application = environment[contract.ENV_APPLICATION]
        self._selector = f"{contract.LABEL_APPLICATION}={self._application},{contract.LABEL_COMPONENT}=driver"
        self._pods = f"/api/v1/namespaces/{self._namespace}/pods"
        leases = f"/apis/coordination.k8s.io/v1/namespaces/{self._namespace}/leases"
        self._lease = f"{leases}/{self._application}{contract.LEASE_SUFFIX}"

    def gather(self) -> Gathered:
        """Read the Lease first: a holder that the later list of pods does not have is over."""
        lease = self._call("GET", self._lease).body
        spec, metadata = mapping(lease.get("spec"), "spec"), mapping(lease.get("metadata"), "metadata")
        seen = LeaseSeen(name_in(spec, "holderIdentity"), number_in(spec, "leaseTransitions") or 0)
        drivers = [
            driver
            for reply in pages(
                lambda query: self._call("GET", self._pods, query=query), PAGES, MAX_PAGES, self._selector
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
        return Gathered(own, others, seen, name_in(metadata, "resourceVersion"))

    def _holder(self, identity: str) -> DriverSeen | None:
        """The pod of an identity, if it has not ended."""
        name = quote(identity.rpartition("_")[0], safe="")
        if not name:
            return None  # no pod has written it
        reply = self._api.call("GET", f"{self._pods}/{name}")
        if reply.status == HTTPStatus.NOT_FOUND:
            return None
        driver = driver_of(_answered("GET", self._pods, reply).body)
        return driver if driver is not None and driver.identity == identity else None

    def act(self, decided: Turn, found: Gathered, now: datetime) -> list[str]:
        """Take the turn, or end Jobs; returns their names. What fails is tried again in the next look."""
        if decided.take is not None:
            spec = {
                "holderIdentity": found.own.identity,
                "leaseTransitions": decided.take,
                "acquireTime": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            }
            body = {"metadata": {"resourceVersion": found.version}, "spec": spec}
            self._call("PATCH", self._lease, body=body, headers=MERGE_PATCH)
        ended = (self._end(name, uid, found.own.job, now) for name, uid in sorted(decided.ends))
        return sorted({name for name in ended if name})

    def _end(self, name: str, uid: str, own: tuple[str, str], now: datetime) -> str:
        """End a Job of this application, or the own one if that is older: its retry comes after a newer run.

        Returns the name of the Job that it has ended; "" if that is gone, or has been ended already.
        """
        other = self._job(name, uid)
        mine = None if other is None or not own[0] else self._job(*own)
        if other is None or (own[0] and mine is None):
            return ""
        ended, by = other, self._run
        if mine is not None and _age(mine) < _age(other):
            ended, by = mine, _run_of(other)
        metadata = ended["metadata"]
        patch = killing(ended, now, by)
        patch["metadata"]["resourceVersion"] = name_in(metadata, "resourceVersion")
        self._call("PATCH", self._path(name_in(metadata, "name")), body=patch, headers=MERGE_PATCH)
        return name_in(metadata, "name")

    def _job(self, name: str, uid: str) -> dict[str, Any] | None:
        """A Job of this application that has not been ended; None for any other: a pod may name any owner."""
        path = self._path(name)
        reply = self._api.call("GET", path)
        if reply.status == HTTPStatus.NOT_FOUND:
            return None
        job = _answered("GET", path, reply).body
        metadata = mapping(job.get("metadata"), "metadata")
        labels, annotations = (mapping(metadata.get(one), one) for one in ("labels", "annotations"))
        own = metadata.get("uid") == uid and labels.get(contract.LABEL_APPLICATION) == self._application
        if not own or KILLED in annotations:
            return None
        return {"kind": "Job", "metadata": metadata, "spec": mapping(job.get("spec"), "spec")}

    def _path(self, job: str) -> str:
        return f"/apis/batch/v1/namespaces/{self._namespace}/jobs/{quote(job, safe='')}"

    def _call(self, method: str, path: str, **options: Any) -> Reply:
        return _answered(method, path, self._api.call(method, path, **options))


def _answered(method: str, path: str, reply: Reply) -> Reply:
    if reply.status >= HTTPStatus.MULTIPLE_CHOICES:
        lasting = reply.status in _REFUSALS
        raise Unanswered(f"{method} {path}: {reply.status} {reply.message}", lasting=lasting)
    return reply


def _readable(pod: Mapping[str, Any]) -> DriverSeen | None:
    """The same as `driver_of`; None for a pod that no API server writes. The holder is read by its name."""
    try:
        return driver_of(pod)
    except Malformed:
        return None


def _age(job: Mapping[str, Any]) -> tuple[str, str]:
    """The place of a Job among those of its application: earlier ones first."""
    metadata = job["metadata"]
    return name_in(metadata, "creationTimestamp"), name_in(metadata, "uid")


def _run_of(job: Mapping[str, Any]) -> str:
    """The run's name, which is on its Job; else the Job's."""
    metadata = job["metadata"]
    return name_in(mapping(metadata.get("labels"), "labels"), contract.LABEL_RUN) or name_in(metadata, "name")


def driver_of(pod: Mapping[str, Any]) -> DriverSeen | None:
    """A pod of the API server as a value; None if it has ended. Raises Malformed."""
    metadata, status = mapping(pod.get("metadata"), "metadata"), mapping(pod.get("status"), "status")
    if name_in(status, "phase") in ("Succeeded", "Failed"):
        return None
    owners = objects(metadata.get("ownerReferences"), "ownerReferences")
    controllers = [one for one in owners if one.get("kind") == "Job" and one.get("controller") is True]
    jobs = [(name_in(one, "name"), name_in(one, "uid")) for one in controllers]
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
