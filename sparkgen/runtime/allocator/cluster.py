"""The ExecutorBackend of the sidecar: the API server of the cluster that its pod runs in."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from sparkgen.runtime.allocator.observe.trim_pod import trim_decoded
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.pods.prerequisites import PrerequisitesBackend
from sparkgen.runtime.allocator.pods.template import gang_of
from sparkgen.runtime.allocator.sidecar import BackendInputs, BackendParts
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster
from sparkgen.runtime.kubernetes.answers import Verdict
from sparkgen.runtime.kubernetes.transport import Transport


def kubernetes_backend(inputs: BackendInputs) -> BackendParts:
    """The backend, which creates the RPC secret before the first executor. Raises Refused in no cluster."""
    try:
        access = in_cluster(os.environ)
    except NoCluster as error:
        raise Refused(str(error)) from None
    clock_and_random, secret = inputs.clock_and_random, inputs.secret
    kube = KubernetesBackend(
        Transport(access, hook=trim_decoded),
        inputs.attempt,
        inputs.template,
        clock=clock_and_random.clock,
        wall=time.time,
        random=clock_and_random.random,
    )
    wanted: list[Callable[[], Verdict]] = []
    if secret is not None:
        wanted.append(partial(kube.create_secret, secret))
    if gang := gang_of(inputs.template):
        wanted.append(partial(kube.create_pod_group, gang))
    backend = PrerequisitesBackend(kube, [partial(_made, create) for create in wanted]) if wanted else kube
    return BackendParts(backend, kube.set_application_id, kube.set_driver_url, kube.driver_pod)


def _made(create: Callable[[], Verdict], order: Create) -> ActionOutcome:
    """The outcome of creating an executor, given whether an object that it needs could be created."""
    verdict = create()
    return ActionOutcome(order, verdict.answer, verdict.hindrance, verdict.retry_after)
