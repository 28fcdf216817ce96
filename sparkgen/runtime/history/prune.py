"""`sparkgen-runtime history`: carries out what `plan.prune_plan` decides, with its own account's permissions.

Run by the Job `<application>-history-<hash>`, once for each new run. Every deletion has the object's uid and
version as preconditions, so that nothing is deleted that has changed since it was read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.history.plan import (
    IGNORE_HEALTH,
    SUPERSEDED,
    HistoryPolicy,
    Object,
    PrunePlan,
    prune_plan,
)
from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply
from sparkgen.runtime.kubernetes.paging import pages
from sparkgen.runtime.kubernetes.transport import MERGE_PATCH, Calls
from sparkgen.runtime.kubernetes.untrusted import Malformed, mapping, name_in, objects

PAGES, MAX_PAGES = (500, 50, 5, 1), 10_000
"""Objects in one page: fewer where somebody's large objects make a page too large."""
ATTEMPTS = 30
PAUSE_SECONDS = 2.0
"""A minute in all, or more: the RoleBinding may come later than the pod."""

_ROLE = "; the account of this Job needs the Role that is rendered with it"
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
"""Requests only the metadata of ConfigMaps and PodGroups from the API server."""


def history_policy(environment: Mapping[str, str]) -> HistoryPolicy:
    """The policy in the environment. Raises Refused if it is incomplete, or of another version."""
    check_contract(environment)
    needed = (contract.ENV_APPLICATION, contract.ENV_RUN, contract.ENV_WORKLOAD, contract.ENV_JOB_NAME)
    missing = [name for name in (*needed, contract.ENV_POD_NAMESPACE) if not environment.get(name)]
    if missing:
        raise Refused(
            f"missing environment variables: {', '.join(missing)}; render the Job again, and use it as "
            "rendered"
        )
    return HistoryPolicy(
        run=environment[contract.ENV_RUN],
        workload=environment[contract.ENV_WORKLOAD],
        own=environment[contract.ENV_JOB_NAME],
        succeeded=_number(environment.get(contract.ENV_KEEP_SUCCEEDED)),
        failed=_number(environment.get(contract.ENV_KEEP_FAILED)),
    )


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def prune(
    api: Calls,
    environment: Mapping[str, str],
    wanted: HistoryPolicy,
    say: Callable[[str], object],
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Remove what has to be removed. Raises Refused if the API server does not allow it."""
    namespace = environment[contract.ENV_POD_NAMESPACE]
    selector = f"{contract.LABEL_APPLICATION}={environment[contract.ENV_APPLICATION]}"
    jobs_path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    files_path = f"/api/v1/namespaces/{namespace}/configmaps"
    patient = _RetryingApi(api, sleep)
    # ConfigMaps first: a run whose Job is created between the two lists must not look like one without a Job.
    metadata_only = {"Accept": METADATA_ONLY}
    config_maps = [*patient.list(files_path, selector, metadata_only)]
    groups_path = f"/apis/{contract.POD_GROUPS_OF_VOLCANO}/namespaces/{namespace}/podgroups"
    grouped = bool(environment.get(contract.ENV_POD_GROUPS))
    pod_groups = [*patient.list(groups_path, selector, metadata_only)] if grouped else []
    decided = prune_plan(wanted, [*patient.list(jobs_path, selector)], config_maps, pod_groups)
    _carry_out(decided, patient, (jobs_path, files_path, groups_path), say)


def _carry_out(
    decided: PrunePlan, patient: _RetryingApi, paths: tuple[str, str, str], say: Callable[[str], object]
) -> None:
    jobs_path = paths[0]
    for job in decided.mark:
        say(f"marking {_name(job)} as superseded: it no longer counts in the application's health")
        patient.annotate(f"{jobs_path}/{_name(job)}", {IGNORE_HEALTH: "true", SUPERSEDED: "true"})
    for job in decided.unmark:
        say(f"unmarking {_name(job)}: it is the current run again")
        patient.annotate(f"{jobs_path}/{_name(job)}", {IGNORE_HEALTH: None, SUPERSEDED: None})
    for path, items in zip(paths, (decided.jobs, decided.config_maps, decided.pod_groups), strict=True):
        for item in items:
            say(f"deleting {path.rpartition('/')[2]}/{_name(item)}")
            patient.delete(f"{path}/{_name(item)}", item)
    say(f"done: {len(decided.jobs)} Jobs and {len(decided.config_maps)} ConfigMaps deleted")


class _RetryingApi:
    """Calls that are repeated while the cluster is busy, or does not know our permissions yet."""

    def __init__(self, api: Calls, sleep: Callable[[float], object]) -> None:
        self._api = api
        self._sleep = sleep

    def list(self, path: str, selector: str, headers: Mapping[str, str] | None = None) -> Iterator[Object]:
        """All objects that match the selector, in pages."""
        try:
            for reply in pages(
                lambda query: self._call("GET", path, query=query, headers=headers),
                PAGES,
                MAX_PAGES,
                selector,
            ):
                yield from [_known(item) for item in objects(reply.body.get("items"), "items")]
        except Malformed as error:
            raise Refused(f"GET {path}: the API server's answer is not a list ({error})") from None
        except CallFailed as error:
            raise Refused(f"GET {path}: {error}") from None

    def annotate(self, path: str, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of an object, or remove them (None)."""
        body = {"metadata": {"annotations": dict(annotations)}}
        self._call("PATCH", path, body=body, headers=MERGE_PATCH)

    def delete(self, path: str, item: Object) -> None:
        """Delete an object in the state in which it was read; does nothing if it has changed or is gone."""
        metadata = item["metadata"]
        preconditions = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": preconditions,
        }
        self._call("DELETE", path, body=options)

    def _call(self, method: str, path: str, **options: Any) -> Reply:
        said = step = ""
        for _ in range(ATTEMPTS):
            try:
                reply = self._api.call(method, path, **options)
            except AnswerTooLarge:
                raise
            except CallFailed as fault:
                said = str(fault)
            else:
                if reply.status < 300 or (method != "GET" and reply.status in (404, 409)):
                    return reply
                said = f"{reply.status} {reply.body.get('message', '')}"
                step = _ROLE if reply.status in (401, 403) else ""
                if reply.status not in (401, 403, 429) and reply.status < 500:
                    break
            self._sleep(PAUSE_SECONDS)
        raise Refused(f"{method} {path}: {said}{step}")


def _known(item: Object) -> Object:
    """The object with what identifies it, which a deletion needs. Raises Malformed if that is missing."""
    metadata = mapping(item.get("metadata"), "metadata")
    for key in ("name", "uid", "resourceVersion"):
        if not name_in(metadata, key):
            raise Malformed(f"an object has no {key}")
    for key in ("labels", "annotations"):
        mapping(metadata.get(key), key)
    return item


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])
