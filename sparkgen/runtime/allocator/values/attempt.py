"""One attempt of a run, as one driver pod makes it: its names, addresses and labels. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.runtime.addresses import url_host

ATTEMPT_LENGTH = 5


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run in one driver pod. Every name that is made while it runs contains `run` and `attempt`.

    `application_id` is Spark's; it changes when the driver's container starts again in its pod, and the
    other fields do not.
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
    """Of the Secret with the RPC secret: what it begins with, until a session begins. "" when there is none,
    because nothing is authenticated."""

    def executor_name(self, id_: int) -> str:
        """The name of an executor's pod: a function of the id, so that asking twice creates one pod."""
        return f"{self.run}-{self.attempt}-exec-{id_}"

    @property
    def any_executor(self) -> str:
        """What stands for the name of an executor's pod, whichever it is."""
        return f"{self.executor_name_prefix}N"

    def executor_id(self, pod_name: str) -> int | None:
        """The id in the name of an executor's pod; None when it is not one of this attempt's."""
        found = re.fullmatch(r"[1-9][0-9]{0,9}", pod_name.removeprefix(self.executor_name_prefix))
        return int(found[0]) if found and pod_name.startswith(self.executor_name_prefix) else None

    @property
    def executor_name_prefix(self) -> str:
        """What the names of all executor pods of this attempt start with."""
        return f"{self.run}-{self.attempt}-exec-"

    @property
    def pod_group(self) -> str:
        """The name of the PodGroup of this attempt's executors, where they are placed together."""
        return f"{self.run}-{self.attempt}"

    @property
    def selector(self) -> str:
        """The label selector of this attempt's executors, those of an earlier driver in the same pod, too."""
        return f"{contract.LABEL_ATTEMPT}={self.attempt},{contract.LABEL_RUN}={self.run}"

    @property
    def owner(self) -> dict[str, Any]:
        """The driver's pod as the owner of what is made while it runs.

        Without `blockOwnerDeletion`: that takes a right on pods' finalizers where the cluster enforces it
        (OwnerReferencesPermissionEnforcement), and nothing has to wait here.
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
        """The sub-directory that executors have in each directory of their nodes' shuffle services.

        The janitor reads it back: which driver's pod to look for, and in which namespace.
        """
        return f"{self.namespace}_{self.pod_uid}"

    @property
    def driver_url(self) -> str:
        """Where executors reach Spark's scheduler in the driver."""
        return f"spark://CoarseGrainedScheduler@{url_host(self.pod_ip)}:{contract.DRIVER_PORT}"

    def start_url(self, id_: int) -> str:
        """Where an executor asks whether it may start."""
        return f"http://{url_host(self.pod_ip)}:{contract.ALLOCATOR_PORT}{contract.START_PATH}/{id_}/start"


def new_attempt(
    application: str, run: str, namespace: str, pod_name: str, pod_uid: str, pod_ip: str
) -> Attempt:
    """The attempt that a driver pod makes, with the application id that is its default."""
    short = attempt_of(pod_uid)
    name = f"{run}-{short}"
    return Attempt(
        application, run, short, namespace, pod_name, pod_uid, pod_ip, application_id=name, secret_name=name
    )


def attempt_of(pod_uid: str) -> str:
    """The attempt's short name: the first five hexadecimal characters of the SHA-256 of the pod's UID."""
    return hashlib.sha256(pod_uid.encode()).hexdigest()[:ATTEMPT_LENGTH]
