"""`sparkgen ui`: forwards a local port to a running driver's Spark UI."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cli.option_table import command
from sparkgen.cli.options import APPLICATION, PLACE, RUN, port
from sparkgen.cli.request import ClusterOptions
from sparkgen.cluster import connect
from sparkgen.errors import SparkgenError
from sparkgen.live.explain import fares
from sparkgen.live.facts import gather
from sparkgen.live.find import choose, one
from sparkgen.live.page_address import page_host
from sparkgen.live.state import State, life_of
from sparkgen.live.tunnel import LOCALHOST
from sparkgen.usecases.forwarding import Forwarding, Served

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.live.values import Run

HELP = """Forward a local port to a running driver's Spark UI, until Ctrl-C or until the driver ends.

The connection goes through the API server, as with kubectl port-forward. You need permission to get and
create pods/portforward, but no Ingress and no Service. Only this machine can reach the port.

Each call prints another address, and the port answers only there. So a page of one application can use
neither cookies nor other data that a browser keeps for another. Chrome, Edge and Firefox find the address;
for Safari, add its host to /etc/hosts: 127.0.0.1 HOST. A program can connect to 127.0.0.1 and send the host
in the header Host.

If Kubernetes replaces the driver of a streaming application, the port shows the UI of the new driver. The UI
of a run ends with its driver. To see ended runs that wrote event logs, use a history server.
"""
EXAMPLES = """\b
Examples:
  sparkgen ui pi                        # prints http://pi-NAMESPACE-RANDOM.localhost:4040
  sparkgen ui pi --port 0               # any free port
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UiOptions(ClusterOptions):
    """The run, and the local port; 0 for any free port."""

    name: str
    run: str
    port: int


def ui(options: UiOptions) -> None:
    """Forward the port, print its address, and wait for the end."""
    cluster = connect(options.place)
    chosen = choose(one(cluster, options.name), options.run)
    _with_a_driver(cluster, chosen)
    served = Served(
        contract.UI_PORT,
        "the UI does not answer yet: Spark is starting, or spark.ui.enabled is false",
        LOCALHOST,  # browsers may try either
        host=page_host(chosen.application, chosen.namespace, secrets.token_hex(8)),
    )
    forwarding = Forwarding(cluster, chosen, served, options.port, output.say)
    forwarding.start(chosen)
    output.write(f"{forwarding.page}\n")
    output.note(f"forwarding the Spark UI of {chosen.name}; press Ctrl-C to stop")
    with contextlib.closing(forwarding):
        forwarding.until_the_end()
    output.note(f"the driver of {chosen.name} has ended, and so has its UI")


COMMAND = command(
    UiOptions,
    ui,
    APPLICATION,
    RUN,
    port("port", "--port", "Local port; 0 for any free port.", default=4040),
    *PLACE,
)


def _with_a_driver(cluster: Cluster, run: Run) -> None:
    """Raise SparkgenError if no driver is running."""
    life = life_of(run)
    if contract.is_session(run.workload):
        raise SparkgenError(
            f"{run.name} is a session: its UI is on the machine of its driver, at http://localhost:4040"
        )
    if life.state is State.RUNNING:
        return
    step = (
        "its UI has ended; use a history server to see runs that wrote event logs"
        if life.over
        else "its UI starts with the driver"
    )
    raise SparkgenError(f"{run.name} is {fares(gather(cluster, run), datetime.now(UTC))}; {step}")
