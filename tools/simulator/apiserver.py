"""An API server, as far as executors' pods need one: its storage, versions, lists, watches and answers.

Its answers are those of kube-apiserver: 201, 409 AlreadyExists, 409 for a precondition, 404, 403 of a quota,
a webhook or the authorizer, 410 for a version that was compacted. Objects are JSON values that nobody changes
in place: a change is a new value with the next resourceVersion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.objects import Object
from sparkgen.runtime.kubernetes.answers import Reply

Change = tuple[int, str, Object]
"""A resourceVersion, the kind of event, and the pod as it is from then on."""

FIRST_VERSION = 100
"""Each change has the next one."""
PAGE = 3
"""Pods in one answer to a list: few, so that small clusters have pages, too."""
STALE = 8
"""How many versions behind an answer from the server's cache may be."""
WALL = "2031-02-03T04:05:06Z"
"""The server's time of day. It is wrong, as nobody may depend on it."""


@dataclass(slots=True)
class Rules:
    """What the server refuses now: a status and a message, each None when it does not."""

    create: tuple[int, str, str] | None = None
    """Status, reason and message for every creation of a pod."""
    quota: int | None = None


@dataclass(slots=True)
class ApiServer:
    """The server. `changed` is told each change, `removed` each pod that is not there any more."""

    changed: Callable[[Change], None]
    rules: Rules = field(default_factory=Rules)
    mutate: Callable[[Object], Object] = lambda pod: pod
    """What webhooks make of a new pod."""
    pods: dict[str, Object] = field(default_factory=dict)
    secrets: dict[str, Object] = field(default_factory=dict)
    pod_groups: dict[str, Object] = field(default_factory=dict)
    driver_pod: Object | None = None
    """The driver's own pod; None when it is not there."""
    history: list[Change] = field(default_factory=list)
    version: int = FIRST_VERSION
    oldest: int = FIRST_VERSION
    """Watches and lists cannot go on from versions before this one."""
    made: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    """Requests by method and kind of object: "POST pods", "LIST pods", "WATCH pods" ..."""

    # --- requests -------------------------------------------------------------------------------------

    def handle(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Reply:
        """Carry out a request, and answer it."""
        resource, _, name = path.partition("/namespaces/")[2].partition("/")[2].partition("/")
        verb = "LIST" if method == "GET" and not name else method
        self.calls[f"{verb} {resource}"] = self.calls.get(f"{verb} {resource}", 0) + 1
        if resource != "pods":
            return self._other(resource, body)
        if verb == "LIST":
            return self._list(query)
        if method == "POST":
            return self._create(body)
        if self.driver_pod is not None and name == self.driver_pod["metadata"]["name"]:
            return Reply(200, self.driver_pod)
        if name not in self.pods:
            return status(404, "NotFound", f'pods "{name}" not found')
        return Reply(200, self.pods[name]) if method == "GET" else self._delete(self.pods[name], body)

    def _other(self, resource: str, body: Any) -> Reply:
        kept = {"secrets": self.secrets, "podgroups": self.pod_groups}.get(resource)
        if kept is not None:
            name = body["metadata"]["name"]
            if name in kept:
                return status(409, "AlreadyExists", f'{resource} "{name}" already exists')
            kept[name] = body
        return Reply(201, body)

    def _create(self, body: Object) -> Reply:
        name = body["metadata"]["name"]
        if self.rules.create is not None:
            return status(*self.rules.create)
        if name in self.pods:
            return status(409, "AlreadyExists", f'pods "{name}" already exists')
        used = sum(1 for pod in self.pods.values() if pod["status"]["phase"] in ("Pending", "Running"))
        if self.rules.quota is not None and used >= self.rules.quota:
            words = f'pods "{name}" is forbidden: exceeded quota: team, requested: pods=1, used: pods={used}'
            return status(403, "Forbidden", words)
        self.made += 1
        metadata = {**body["metadata"], "uid": f"uid-{self.made}", "creationTimestamp": WALL}
        pod = {**body, "metadata": metadata, "status": {"phase": "Pending"}}
        return Reply(201, self.put("ADDED", self.mutate(pod)))

    def _delete(self, pod: Object, options: Any) -> Reply:
        metadata = pod["metadata"]
        expected = (options.get("preconditions") or {}).get("uid", metadata["uid"])
        if expected != metadata["uid"]:
            words = (
                f"Precondition failed: UID in precondition: {expected}, UID in object meta: {metadata['uid']}"
            )
            return status(409, "Conflict", words)
        self.mark_deleted(pod, forced=options.get("gracePeriodSeconds") == 0)
        return Reply(200, pod)

    def _list(self, query: Mapping[str, str]) -> Reply:
        cached = query.get("resourceVersion") == "0"
        version, pods = self._as_it_was() if cached else (self.version, self.pods)
        names = sorted(name for name in pods if name > query.get("continue", ""))
        page, more = names[:PAGE], len(names) > PAGE
        metadata = {"resourceVersion": str(version), "continue": page[-1] if more else ""}
        return Reply(200, {"metadata": metadata, "items": [pods[name] for name in page]})

    def _as_it_was(self) -> tuple[int, dict[str, Object]]:
        """An old state: what the cache of a server may answer that is asked for any version."""
        version = max(FIRST_VERSION, self.version - STALE)
        pods: dict[str, Object] = {}
        for changed, kind, pod in self.history:
            if changed <= version:
                pods[pod["metadata"]["name"]] = pod
                if kind == "DELETED":
                    del pods[pod["metadata"]["name"]]
        return version, pods

    # --- what the control plane and the nodes write ---------------------------------------------------

    def put(self, kind: str, pod: Object) -> Object:
        """Store a pod in its new state (ADDED, MODIFIED), or for the last time (DELETED)."""
        self.version += 1
        pod = {**pod, "metadata": {**pod["metadata"], "resourceVersion": str(self.version)}}
        name = pod["metadata"]["name"]
        if kind == "DELETED":
            self.pods.pop(name, None)
        else:
            self.pods[name] = pod
        change = (self.version, kind, pod)
        self.history.append(change)
        self.changed(change)
        return pod

    def mark_deleted(self, pod: Object, *, forced: bool = False) -> None:
        """Delete a pod: at once where nothing of it runs, and else when its kubelet has ended it."""
        ended = pod["status"]["phase"] in ("Succeeded", "Failed")
        if forced or ended or not pod["spec"].get("nodeName"):
            self.put("DELETED", pod)
        elif not pod["metadata"].get("deletionTimestamp"):
            self.put("MODIFIED", {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": WALL}})

    def collect(self, owner: str) -> None:
        """Delete what belongs to this owner, which is gone: the garbage collector goes by UIDs."""
        for pod in tuple(self.pods.values()):
            if _is_owned(pod, owner):
                self.mark_deleted(pod)
        for kept in (self.secrets, self.pod_groups):
            for name in [name for name, body in kept.items() if _is_owned(body, owner)]:
                del kept[name]

    def compact(self) -> None:
        """Forget all versions before this one, as etcd's compaction does every few minutes."""
        self.oldest = self.version

    def since(self, version: int) -> list[Change] | None:
        """The changes after a version; None when they are forgotten."""
        if version < self.oldest:
            return None
        return self.history[max(0, version - FIRST_VERSION) :]


def _is_owned(body: Object, owner: str) -> bool:
    return any(found["uid"] == owner for found in body["metadata"].get("ownerReferences") or ())


def status(code: int, reason: str, message: str, retry_after: str = "") -> Reply:
    """An answer that is an error."""
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
    return Reply(code, body, retry_after)
