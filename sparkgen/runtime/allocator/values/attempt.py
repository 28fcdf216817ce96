"""One attempt of a run (one driver pod): its names, addresses and labels. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.runtime.addresses import url_host

ATTEMPT_LENGTH = 5
HIGHEST_ID = 2**31 - 1
"""The highest id of an executor: Spark's have 32 bits. Pods with higher ones in their names are of others."""
HIGHEST_FOUND_ID = 10**9
"""The highest id from which new ids continue if a pod or the driver shows it. Whoever may create pods chooses
one, and there must be enough ids behind it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run in one driver pod. The names of all objects created while it runs contain `run` and `attempt`.

    `application_id` is Spark's. It changes when the driver's container restarts in its pod; the other fields
    do not.
    """

    application: str
    run: str
    attempt: str
    namespace: str
    pod_name: str
    pod_uid: str
    pod_ip: str
    application_id: str
    secret_name: str
    """The name of the Secret with the RPC secret; before a session begins, the start of that name. "" if
    there is no Secret, because nothing is authenticated."""

    def executor_name(self, id_: int) -> str:
        """The name of an executor's pod. It depends only on the id: repeated requests create one pod."""
        return f"{self.run}-{self.attempt}-exec-{id_}"

    @property
    def any_executor(self) -> str:
        """The placeholder for the name of any executor's pod, for messages."""
        return f"{self.executor_name_prefix}N"

    def executor_id(self, pod_name: str) -> int | None:
        """The id in the name of an executor's pod; None for a pod that is not an executor of this attempt."""
        found = re.fullmatch(r"[1-9][0-9]{0,9}", pod_name.removeprefix(self.executor_name_prefix))
        if not found or not pod_name.startswith(self.executor_name_prefix):
            return None
        return int(found[0]) if int(found[0]) <= HIGHEST_ID else None

    @property
    def executor_name_prefix(self) -> str:
        """The prefix of the names of all executor pods of this attempt."""
        return f"{self.run}-{self.attempt}-exec-"

    @property
    def pod_group(self) -> str:
        """The name of the PodGroup of this attempt's executors, if they are placed together."""
        return f"{self.run}-{self.attempt}"

    @property
    def selector(self) -> str:
        """The label selector of this attempt's executors, also those of an earlier driver in the pod."""
        return f"{contract.LABEL_ATTEMPT}={self.attempt},{contract.LABEL_RUN}={self.run}"

    @property
    def owner(self) -> dict[str, Any]:
        """The owner reference to the driver's pod, for objects that are created while it runs.

        Without `blockOwnerDeletion`: that needs a permission on pods' finalizers if the cluster enforces it
        (OwnerReferencesPermissionEnforcement), and the pod's deletion has nothing to wait for.
        """
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": self.pod_name,
            "uid": self.pod_uid,
            "controller": True,
        }

    @property
    def shuffle_folder(self) -> str:
        """The sub-directory of the executors in each directory of their nodes' shuffle services.

        From this name, the janitor finds the driver's pod and its namespace.
        """
        return f"{self.namespace}_{self.pod_uid}"

    @property
    def driver_url(self) -> str:
        """The URL of Spark's scheduler in the driver, for executors."""
        return f"spark://CoarseGrainedScheduler@{url_host(self.pod_ip)}:{contract.DRIVER_PORT}"

    def start_url(self, id_: int) -> str:
        """The URL at which an executor asks whether it may start."""
        return f"http://{url_host(self.pod_ip)}:{contract.ALLOCATOR_PORT}{contract.START_PATH}/{id_}/start"


def new_attempt(
    application: str, run: str, namespace: str, pod_name: str, pod_uid: str, pod_ip: str
) -> Attempt:
    """The attempt of a driver pod, with the default application id."""
    short = attempt_of(pod_uid)
    name = f"{run}-{short}"
    return Attempt(
        application, run, short, namespace, pod_name, pod_uid, pod_ip, application_id=name, secret_name=name
    )


def attempt_of(pod_uid: str) -> str:
    """The attempt's short name: the first five hexadecimal characters of the SHA-256 of the pod's UID."""
    return hashlib.sha256(pod_uid.encode()).hexdigest()[:ATTEMPT_LENGTH]
