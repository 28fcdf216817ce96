"""The parts of an API server that executors' pods need: storage, versions, lists, watches and answers.

Its answers are those of kube-apiserver: 201, 409 AlreadyExists, 409 for a precondition, 404, 403 from a
quota, a webhook or the authorizer, 410 for a compacted version. Objects are JSON values that are never
changed in place: a change is a new value with the next resourceVersion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.objects import Object
from sparkgen.runtime.kubernetes.answers import Reply

Change = tuple[int, str, Object]
"""A resourceVersion, the kind of event, and the pod from then on."""

FIRST_VERSION = 100
"""The version before the first change; each change has the next version."""
PAGE = 3
"""Pods in one answer to a list: few, so that lists of small clusters have several pages, too."""
STALE = 8
"""The number of versions by which an answer from the server's cache is behind."""
WALL = "2031-02-03T04:05:06Z"
"""The server's wall time. It is wrong, because no code may depend on it."""


@dataclass(slots=True)
class Rules:
    """The requests that the server refuses now; a rule is None if it does not apply."""

    create: tuple[int, str, str] | None = None
    """Status, reason and message of the answer to every creation of a pod."""
    quota: int | None = None


@dataclass(slots=True)
class ApiServer:
    """The server. `changed` is called with each change."""

    changed: Callable[[Change], None]
    rules: Rules = field(default_factory=Rules)
    mutate: Callable[[Object], Object] = lambda pod: pod
    """Changes a new pod, as webhooks do."""
    pods: dict[str, Object] = field(default_factory=dict)
    secrets: dict[str, Object] = field(default_factory=dict)
    pod_groups: dict[str, Object] = field(default_factory=dict)
    driver_pod: Object | None = None
    """The driver's own pod; None if it does not exist."""
    history: list[Change] = field(default_factory=list)
    version: int = FIRST_VERSION
    oldest: int = FIRST_VERSION
    """The oldest version from which watches can continue."""
    made: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    """Requests by method and kind of object: "POST pods", "LIST pods", "WATCH pods" ..."""

    # --- requests -------------------------------------------------------------------------------------

    def handle(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Reply:
        """Carry out a request. Returns the answer."""
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
        """An old version and its pods, as a server's cache may answer a request for any version."""
        version = max(FIRST_VERSION, self.version - STALE)
        pods: dict[str, Object] = {}
        for changed, kind, pod in self.history:
            if changed <= version:
                pods[pod["metadata"]["name"]] = pod
                if kind == "DELETED":
                    del pods[pod["metadata"]["name"]]
        return version, pods

    # --- writes of the control plane and the nodes ----------------------------------------------------

    def put(self, kind: str, pod: Object) -> Object:
        """Store a pod in its new state (ADDED, MODIFIED), or remove it (DELETED). Returns the new pod."""
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
        """Delete a pod: at once if it is forced or none of it runs; otherwise its kubelet ends it first."""
        ended = pod["status"]["phase"] in ("Succeeded", "Failed")
        if forced or ended or not pod["spec"].get("nodeName"):
            self.put("DELETED", pod)
        elif not pod["metadata"].get("deletionTimestamp"):
            self.put("MODIFIED", {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": WALL}})

    def collect(self, owner: str) -> None:
        """Delete the objects of a deleted owner, by its UID, as the garbage collector does."""
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
        """The changes after a version; None if they were compacted."""
        if version < self.oldest:
            return None
        return self.history[max(0, version - FIRST_VERSION) :]


def _is_owned(body: Object, owner: str) -> bool:
    return any(found["uid"] == owner for found in body["metadata"].get("ownerReferences") or ())


def status(code: int, reason: str, message: str, retry_after: str = "") -> Reply:
    """The answer for an error."""
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
    return Reply(code, body, retry_after)
