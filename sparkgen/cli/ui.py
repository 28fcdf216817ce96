"""`sparkgen ui`: the Spark UI of a driver that runs, at a port of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sparkgen.cli import output
from sparkgen.cli.options import ApplicationName, Context, Kubeconfig, Namespace, RunName
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.live.tunnel import Tunnel
    from sparkgen.live.values import Run

SUMMARY = "Show the Spark UI of a running driver at a port of this machine."
HELP = """Forward a port of this machine to a running driver's Spark UI, until Ctrl-C or the driver's end.

The way is through the API server, as for kubectl port-forward: it takes the right to create pods/portforward,
no Ingress and no Service. Only this machine reaches the port. The UI of a run that has ended went with its
driver; a history server shows those that wrote event logs.
"""
EXAMPLES = """\b
Examples:
  sparkgen ui pi                        # prints http://127.0.0.1:4040
  sparkgen ui pi --port 0               # any free port
"""
LOOK_SECONDS = 3.0


def command(
    name: ApplicationName,
    run: RunName = "",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Of this machine; 0 for any.")
    ] = 4040,
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
) -> None:
    """Listen, print where, and wait."""
    from sparkgen import contract  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place, connect  # noqa: PLC0415
    from sparkgen.live.find import choose, one  # noqa: PLC0415
    from sparkgen.live.tunnel import Tunnel  # noqa: PLC0415
    from sparkgen.live.values import name_of  # noqa: PLC0415

    cluster = connect(Place(kubeconfig, context, namespace))
    chosen = choose(one(cluster, name), run)
    pod = name_of(_running_driver(cluster, chosen))
    told: set[str] = set()

    def say(text: str) -> None:
        if "connection refused" in text:
            text = "the UI does not answer yet: Spark begins, or spark.ui.enabled is false"
        if text not in told:
            told.add(text)
            output.note(f"sparkgen: {text}")

    tunnel = Tunnel(port, contract.UI_PORT, lambda: cluster.forward(pod, contract.UI_PORT), say)
    tunnel.start()
    output.write(f"http://127.0.0.1:{tunnel.port}\n")
    output.note(f"the Spark UI of {chosen.name}, as long as this command runs: Ctrl-C ends it")
    _until_it_ends(cluster, chosen, pod, tunnel)


def _running_driver(cluster: Cluster, run: Run) -> dict[str, object]:
    """The driver's pod. SparkgenError when no driver runs in it."""
    from datetime import UTC, datetime  # noqa: PLC0415 - as above

    from sparkgen.live.explain import explain  # noqa: PLC0415
    from sparkgen.live.facts import gather  # noqa: PLC0415
    from sparkgen.live.state import State, life_of  # noqa: PLC0415

    life = life_of(run)
    if life.state is State.RUNNING and run.driver is not None:
        return dict(run.driver)
    reason = explain(gather(cluster, run), datetime.now(UTC))
    why = f": {reason.text}" if reason else ""
    step = (
        "its UI went with it: a history server shows runs that wrote event logs"
        if life.over
        else "its UI comes with the driver"
    )
    raise SparkgenError(f"{run.name} is {life.state.value}{why}; {step}")


def _until_it_ends(cluster: Cluster, run: Run, pod: str, tunnel: Tunnel) -> None:
    import time  # noqa: PLC0415 - as above

    from sparkgen.cluster import ClusterError  # noqa: PLC0415
    from sparkgen.live.values import container, running  # noqa: PLC0415

    try:
        while True:
            time.sleep(LOOK_SECONDS)
            try:
                found = cluster.get("v1", "Pod", pod, run.namespace)
            except ClusterError:
                continue  # it may answer again; who uses the port is told
            if found is None or not running(container(found)):
                output.note(f"the driver of {run.name} has ended, and its UI with it")
                return
    finally:
        tunnel.shutdown()
        tunnel.server_close()
