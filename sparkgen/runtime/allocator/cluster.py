"""The World of the sidecar: the API server of the cluster that the pod runs in."""

from __future__ import annotations

import os
import time

from sparkgen.runtime.allocator.observe.trim_pod import lean
from sparkgen.runtime.allocator.pods.kube import Kube
from sparkgen.runtime.allocator.pods.secret_first import SecretFirst
from sparkgen.runtime.allocator.sidecar import Given, Made
from sparkgen.runtime.allocator.values.actions import Create, Outcome
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster
from sparkgen.runtime.kubernetes.transport import Transport


def world(given: Given) -> Made:
    """The cluster, and the RPC secret in it before the first executor. Refused outside of a cluster."""
    try:
        access = in_cluster(os.environ)
    except NoCluster as error:
        raise Refused(str(error)) from None
    chances, secret = given.chances, given.secret
    kube = Kube(
        Transport(access, hook=lean),
        given.attempt,
        given.template,
        clock=chances.clock,
        wall=time.time,
        random=chances.random,
    )
    if secret is None:
        return Made(kube, kube.speaks, kube.driver_pod)

    def create_secret(order: Create) -> Outcome:
        verdict = kube.create_secret(secret)
        return Outcome(order, verdict.answer, verdict.message, verdict.retry_after)

    return Made(SecretFirst(kube, create_secret), kube.speaks, kube.driver_pod)
