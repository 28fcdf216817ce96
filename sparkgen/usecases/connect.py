"""Finds the address and the token of a Connect server, and runs a client of it.

The token goes from its Secret only into the program's environment. Spark's clients send it without TLS only
to the host `localhost`, by this name (DefaultChannelBuilder.toChannel of pyspark.sql.connect.client.core).
"""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.live.find import reread
from sparkgen.live.page_address import page_host
from sparkgen.live.tunnel import LOCALHOST
from sparkgen.live.values import (
    Application,
    Run,
    connect_port,
    described,
    notebook_port,
    served_as,
)
from sparkgen.model.connect import REMOTE, address
from sparkgen.usecases.forwarding import Served

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
"""`pyspark --remote` sets this variable, too: without it, SPARK_REMOTE's shell starts with a traceback."""
SILENCE = 3600.0
"""Seconds, as for a Tunnel: a client sends nothing while its user thinks, nor the server while it plans."""
_TOKEN = re.compile(r";token=([^;]*)")
_PASSED_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class TokenSource:
    """The place of a server's token: a key of a Secret."""

    secret: str
    key: str


def server(application: Application) -> Run:
    """Returns the run of a Connect server or a notebook. SparkgenError if the application is neither."""
    for run in application.runs:
        if served_as(run.workload):
            return run
    raise SparkgenError(
        f"{application.name} is not a Connect server or a notebook; choose an application of kind "
        "SparkConnectServer or SparkNotebook, or apply one"
    )


def start(cluster: Cluster, run: Run) -> Run:
    """Start a suspended server; returns the run as it is then. Raises ClusterError if that is refused."""
    cluster.patch(run.workload, {"spec": {"replicas": 1}})
    return reread(cluster, run)


def served(run: Run, random: str) -> Served:
    """Returns the port of the Connect server, or of JupyterLab. `random`: as of `page_host`."""
    if port := notebook_port(run):
        host = page_host(run.application, run.namespace, random)
        return Served(port, "JupyterLab does not answer yet", LOCALHOST, SILENCE, host=host)
    return Served(connect_port(run), "the server does not answer yet", LOCALHOST, SILENCE)


def with_address(environment: Mapping[str, str], port: int) -> dict[str, str]:
    """Returns an environment with the server's address for a client."""
    return {**environment, REMOTE: address(port), CONNECT_MODE: "1"}


def token_source(run: Run) -> TokenSource | None:
    """Returns the place of the server's token; None if it needs none. A notebook's is on a volume."""
    volumes = run.workload["spec"]["template"].get("spec", {}).get("volumes") or ()
    for volume in volumes if notebook_port(run) else ():
        if volume["name"] == contract.NOTEBOOK_VOLUME:
            (item,) = volume["secret"]["items"]
            return TokenSource(str(volume["secret"]["secretName"]), str(item["key"]))
    for variable in described(run.workload).get("env") or ():
        if variable.get("name") == contract.ENV_CONNECT_TOKEN:
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef") or {}
            return TokenSource(str(reference["name"]), str(reference["key"])) if reference else None
    return None


def environment_of(
    cluster: Cluster, run: Run, given: Mapping[str, str], say: Callable[[str], None]
) -> dict[str, str]:
    """Returns an environment with the server's token for a client. `given`: the environment of this process.

    If the user may not read the token, it is the token in `given`, in its own variable or in SPARK_REMOTE;
    `say` is called with a message about that. SparkgenError if there is none. No message has a token in it.
    """
    source = token_source(run)
    if source is None:
        return dict(given)
    try:
        token = _read(cluster, run, source)
    except ClusterError as error:
        if error.status != 403:
            raise
        refused = (
            f"you are not allowed to get the Secret {source.secret} in {run.namespace}, which contains the "
            f"token of {run.application}"
        )
        own = _TOKEN.search(given.get(REMOTE, ""))
        token = given.get(contract.ENV_CONNECT_TOKEN) or (unquote(own[1]) if own else "")
        if not token:
            raise SparkgenError(
                f"{refused}; request permission to get it, or set the token in {contract.ENV_CONNECT_TOKEN}"
            ) from error
        say(f"{refused}; using the token in your environment")
    return {**given, contract.ENV_CONNECT_TOKEN: token}


def run_client(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program until it ends. Returns its exit code; if a signal ended it, 128 plus the signal's number.

    Passes signals that would end this process on to the program. Raises SparkgenError if it cannot be
    started.
    """
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if process is None:
            early.append(number)
        elif number not in _OF_TERMINALS or not _in_foreground():  # a terminal sends it to both
            process.send_signal(number)

    wanted = [number for number in _PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]  # nohup
    before = {number: signal.signal(number, pass_on) for number in wanted}
    try:
        process = subprocess.Popen(list(command), env=dict(environment))
        for number in early:
            pass_on(number, None)
        code = process.wait()
    except OSError as error:
        raise SparkgenError(f"cannot run {command[0]}: {error.strerror}") from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _read(cluster: Cluster, run: Run, source: TokenSource) -> str:
    secret = cluster.get("v1", "Secret", source.secret, run.namespace)
    where = f"the Secret {source.secret} in {run.namespace}"
    if secret is None:
        raise SparkgenError(
            f"{run.application} reads its token from {where}, which does not exist; create it"
        )
    value = (secret.get("data") or {}).get(source.key)
    if value is None:
        raise SparkgenError(f"{run.application} reads its token from {where}, which has no key {source.key}")
    token = base64.b64decode(value)
    if b"\0" in token:
        raise SparkgenError(f"the token in {where}, key {source.key}, contains a NUL character")
    return os.fsdecode(token)


def _in_foreground() -> bool:
    """Whether a terminal sends its signals to this process, and so also to its child processes."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
