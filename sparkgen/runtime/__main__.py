"""`python -m sparkgen.runtime`: the command `sparkgen-runtime` of the runtime image.

Exit codes: 0 done, 1 refused or failed (with a message that says what to do), 2 called wrongly, 81 for an
artifact that no second try would bring (`contract.BAD_ARTIFACT`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

USAGE = """usage: sparkgen-runtime COMMAND

  install     put the scheduler jar where the driver finds it (init container)
  fetch       download and unpack the document's pushed files (init container)
  concurrency wait until no other driver of the application runs (init container)
  allocator   create and remove executors while the driver runs (sidecar)
  janitor     remove what finished applications leave in a shuffle service's directories (sidecar);
              `janitor prepare` prepares the directories (init container)
  history     remove finished runs beyond spec.run.history (a separate Job)
  registry-gc
              remove unused artifacts from a staging server (a separate CronJob)
  version     print the release and its contract version
"""


def main(arguments: list[str]) -> int:
    """Do what the arguments say; the exit code."""
    match arguments:
        case ["allocator"]:
            return _with_exit_code(_allocator)
        case ["concurrency"]:
            return _with_exit_code(_concurrency)
        case ["install"]:
            return _with_exit_code(_install)
        case ["fetch"]:
            return _with_exit_code(_fetch)
        case ["history"]:
            return _with_exit_code(_history)
        case ["registry-gc"]:
            return _with_exit_code(_registry_gc)
        case ["janitor", *rest]:
            return _janitor(rest)
        case ["version"]:
            return _version()
        case ["--help" | "-h" | "help"]:
            print(USAGE, end="")  # noqa: T201 - it was asked for
            return 0
    given = " ".join(arguments) or "nothing"
    print(f"error: unknown command: {given}\n\n{USAGE}", end="", file=sys.stderr)  # noqa: T201
    return 2


def _with_exit_code(command: Callable[[], int]) -> int:
    from sparkgen.runtime.exits import exit_code  # noqa: PLC0415 - `version` needs nothing

    return exit_code(command)


def _install() -> int:
    from datetime import UTC, datetime  # noqa: PLC0415 - as above

    from sparkgen.runtime.install import install  # noqa: PLC0415

    print(install(os.environ, datetime.now(UTC)))  # noqa: T201 - the container's log
    return 0


def _fetch() -> int:
    import random  # noqa: PLC0415 - as above
    import time  # noqa: PLC0415

    from sparkgen.runtime.fetch.command import fetch  # noqa: PLC0415
    from sparkgen.runtime.fetch.download import Time  # noqa: PLC0415

    def say(text: str) -> None:
        print(text, flush=True)  # noqa: T201 - the container's log

    fetch(os.environ, Time(time.monotonic, time.sleep, random.random), time.time, say)
    return 0


def _allocator() -> int:
    import random  # noqa: PLC0415 - as above
    import secrets  # noqa: PLC0415
    import time  # noqa: PLC0415

    from sparkgen.runtime.allocator import cluster, sidecar  # noqa: PLC0415
    from sparkgen.runtime.allocator.values.clock import ClockAndRandom  # noqa: PLC0415

    clock_and_random = ClockAndRandom(time.monotonic, random.random)
    return sidecar.run(
        os.environ,
        sidecar.SidecarOptions(cluster.kubernetes_backend),
        clock_and_random,
        lambda: secrets.token_hex(32),
    )


def _concurrency() -> int:
    import signal  # noqa: PLC0415 - as above
    from datetime import UTC, datetime  # noqa: PLC0415
    from functools import partial  # noqa: PLC0415

    from sparkgen.runtime.concurrency.command import trim_decoded, wait  # noqa: PLC0415
    from sparkgen.runtime.exits import Refused  # noqa: PLC0415
    from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster  # noqa: PLC0415
    from sparkgen.runtime.kubernetes.transport import Transport  # noqa: PLC0415

    try:
        transport = Transport(in_cluster(os.environ), agent="sparkgen-concurrency", hook=trim_decoded)
    except NoCluster as error:
        raise Refused(str(error)) from None
    # The kernel ignores the signal for the first process of a container that has no handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    wait(transport, os.environ, partial(datetime.now, UTC), partial(print, flush=True))
    return 0


def _history() -> int:
    from sparkgen.runtime.exits import Refused  # noqa: PLC0415
    from sparkgen.runtime.history.plan import trim_decoded  # noqa: PLC0415 - as above
    from sparkgen.runtime.history.prune import history_policy, prune  # noqa: PLC0415
    from sparkgen.runtime.kubernetes.access import NoCluster, in_cluster  # noqa: PLC0415
    from sparkgen.runtime.kubernetes.transport import Transport  # noqa: PLC0415

    wanted = history_policy(os.environ)
    try:
        transport = Transport(in_cluster(os.environ), agent="sparkgen-history", hook=trim_decoded)
    except NoCluster as error:
        raise Refused(str(error)) from None
    prune(transport, os.environ, wanted, print)
    return 0


def _registry_gc() -> int:
    from sparkgen.runtime.registry_gc import command  # noqa: PLC0415 - as above

    return command.main()


def _janitor(arguments: list[str]) -> int:
    from sparkgen.runtime.janitor import command  # noqa: PLC0415 - as above

    return command.main(arguments)


def _version() -> int:
    from sparkgen import __version__, contract  # noqa: PLC0415 - as above

    print(f"sparkgen-runtime {__version__} (contract {contract.VERSION})")  # noqa: T201 - it was asked for
    return 0


def run() -> None:
    """Be a process: answer the arguments, and end at once, whatever still waits for an answer."""
    code = main(sys.argv[1:])
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
