"""`sparkgen-runtime registry-gc`: gather, decide, remove; once, in an init container of a Job."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from sparkgen import contract
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster
from sparkgen.runtime.kubernetes.transport import ApiCalls, Transport
from sparkgen.runtime.registry_gc.decide import decide
from sparkgen.runtime.registry_gc.naming import named, trim_decoded
from sparkgen.runtime.registry_gc.registry import Registry
from sparkgen.runtime.registry_gc.storage import manifests, parts
from sparkgen.runtime.registry_gc.values import Settings, settings

Say = Callable[[str], object]


def main() -> int:
    """Do it with the environment of the container. Refused when it cannot be done."""
    wanted = settings(os.environ)
    try:
        calls = Transport(in_cluster(os.environ), agent="sparkgen-registry-gc", hook=trim_decoded)
    except NoCluster as error:
        raise Refused(str(error)) from None
    collect(wanted, Registry(), calls, Path(contract.REGISTRY_DATA_DIR), time.time, print)
    return 0


def collect(
    wanted: Settings, registry: Registry, calls: ApiCalls, root: Path, now: Callable[[], float], say: Say
) -> None:
    """Remove what nothing names; Refused, with nothing removed, when that cannot be known."""
    registry.wait()  # only then: what is pushed from here on waits, and is not looked at
    try:
        found = list(manifests(root))
        in_use = named(calls, wanted.namespaces)
        decision = decide(found, lambda one: parts(root, one), in_use, wanted, now())
    except OSError as error:
        raise Refused(f"cannot read the claim: {error}") from None
    if decision.refusal:
        raise Refused(
            decision.refusal,
            f"If the permission is missing in {', '.join(sorted(in_use.unread))}: apply the Role and the "
            "RoleBinding NAME-staging-gc there, which are rendered for an application NAME with "
            "spec.delivery.stagingServer. Remove a namespace without such an application from "
            "spec.garbageCollection.namespaces.",
        )
    for reason, count in sorted(decision.kept.items()):
        say(f"kept {count}: {reason}")
    for one in decision.removed:
        say(f"{'would remove' if wanted.dry_run else 'removing'} {one.repository}@{one.digest}")
        if not wanted.dry_run:
            registry.delete(one.repository, one.digest)
    done = "would be removed" if wanted.dry_run else "removed"
    say(f"{len(decision.removed)} of {len(found)} manifests {done}")
