"""The ExecutorBackend of the sidecar: the API server of the cluster that the pod runs in."""

from __future__ import annotations

import os
import time

from sparkgen.runtime.allocator.observe.trim_pod import trim_decoded
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.pods.secret_first import SecretFirstBackend
from sparkgen.runtime.allocator.sidecar import BackendInputs, BackendParts
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster
from sparkgen.runtime.kubernetes.transport import Transport


def kubernetes_backend(inputs: BackendInputs) -> BackendParts:
    """The cluster, and the RPC secret in it before the first executor. Refused outside of a cluster."""
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
    if secret is None:
        return BackendParts(kube, kube.set_application_id, kube.set_driver_url, kube.driver_pod)

    def create_secret(order: Create) -> ActionOutcome:
        verdict = kube.create_secret(secret)
        return ActionOutcome(order, verdict.answer, verdict.hindrance, verdict.retry_after)

    backend = SecretFirstBackend(kube, create_secret)
    return BackendParts(backend, kube.set_application_id, kube.set_driver_url, kube.driver_pod)
