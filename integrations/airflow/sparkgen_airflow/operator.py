"""The operator: starts a run of a Spark application in a cluster, and waits for its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, BaseOperatorLink, conf
from airflow.sdk.bases.xcom import BaseXCom
from airflow.sdk.exceptions import AirflowException, AirflowTaskTimeout

from sparkgen import api
from sparkgen_airflow.trigger import SparkgenRunTrigger
from sparkgen_airflow.values import Target, TaskRequest, event_of, run_of

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context
    from airflow.sdk.types import TaskInstanceKey

RUN = "run"
"""The XCom with the name of the run. It is there as soon as the run is."""


class SparkUiLink(BaseOperatorLink):
    """A link from the task to the page of its run, by the operator's `ui_url`."""

    name = "Spark UI"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        """Returns the address; "" if the operator has none, or the run has not started."""
        pattern = getattr(operator, "ui_url", "")
        run = BaseXCom.get_value(ti_key=ti_key, key=RUN) if pattern else ""
        return str(pattern).replace("RUN", str(run)) if run else ""


class SparkgenRunOperator(BaseOperator):
    """Runs a Spark application on Kubernetes, and succeeds when its program does.

    `application`: the name of an application that is in the cluster.
    `document`: instead, the path of one that the task applies first, as a suspended template; `values`: its
    overlays.
    `arguments`: those of the program; None for those of the document.
    `namespace`, `context`, `kubeconfig`: as for kubectl; a pod without a kubeconfig has its own cluster.
    `request_id`: which run the task wants; by default one of its own.
    `deferrable`: whether the triggerer waits, without a worker; by default what Airflow's configuration says.
    `interval`: seconds between two looks at the run.
    `log_lines`: how many of the last lines of the driver's log the task log gets.
    `kill`: whether the run ends when somebody cancels the task.
    `ui_url`: an address of the run's page, in which RUN stands for its name.

    A task that is retried or cleared, or whose worker died, finds its run again: see `run_of`.
    """

    template_fields: Sequence[str] = (
        "application",
        "document",
        "values",
        "arguments",
        "namespace",
        "context",
        "kubeconfig",
        "request_id",
        "ui_url",
    )
    operator_extra_links = (SparkUiLink(),)
    ui_color = "#f5e3d0"

    def __init__(
        self,
        *,
        application: str = "",
        document: str = "",
        values: Sequence[str] = (),
        arguments: Sequence[str] | None = None,
        namespace: str = "",
        context: str = "",
        kubeconfig: str = "",
        request_id: str = "",
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        interval: float = 10.0,
        log_lines: int = 1000,
        kill: bool = True,
        ui_url: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if bool(application) == bool(document):
            raise ValueError("set either application or document: a name, or the path of a document")
        self.application, self.document, self.values = application, document, values
        self.arguments = arguments
        self.namespace, self.context, self.kubeconfig = namespace, context, kubeconfig
        self.request_id, self.deferrable, self.interval = request_id, deferrable, interval
        self.log_lines, self.kill, self.ui_url = log_lines, kill, ui_url
        self._running: tuple[str, str] | None = None
        self._is_over: Callable[[], bool] = lambda: False

    def execute(self, context: Context) -> dict[str, Any]:
        """Start the run, or find it, and wait for its end; returns what becomes the task's XCom."""
        cluster = self._target().connect()
        name = self._applied(cluster) if self.document else self.application
        arguments = None if self.arguments is None else [str(one) for one in self.arguments]
        run = run_of(cluster, name, self._request(context), arguments)
        self.log.info("run %s in %s", run, cluster.namespace)
        context["ti"].xcom_push(key=RUN, value=run)
        self._running, self._is_over = (name, run), lambda: _is_over(context)
        if self.deferrable:
            trigger = SparkgenRunTrigger(name, run, asdict(self._target()), self.interval, self.kill)
            self.defer(trigger=trigger, method_name="ended", kwargs={"application": name})
        states: list[str] = []

        def tell(_: object, life: api.Life) -> None:
            if states[-1:] != [life.state.value]:
                states.append(life.state.value)
                self.log.info("%s: %s", run, life.state.value)

        try:
            end = cluster.wait(name, run, tell=tell)
        except AirflowTaskTimeout:
            self._is_over = lambda: True
            raise
        return self.ended(context, event_of(end), name)

    def ended(self, context: Context, event: dict[str, Any], application: str) -> dict[str, Any]:
        """Print the driver's log, and return the result; AirflowException for a run that has failed."""
        if "error" in event:
            raise AirflowException(event["error"])
        cluster = self._target().connect()
        self._print_log(cluster, application, event["run"])
        self.log.info("%s", event["message"])
        if event["exit_code"]:
            said = (event["message"], event["reason"], *event["log"])
            raise AirflowException("\n".join(text for text in said if text))
        return {
            "application": application,
            "namespace": cluster.namespace,
            "run": event["run"],
            "state": api.State.SUCCEEDED.value,
            "exit_code": 0,
        }

    def on_kill(self) -> None:
        """Stop the run if the task is over: somebody has cancelled it, or it has taken too long.

        Airflow calls this as well when a worker goes away. The run then goes on, for the task's next try.
        """
        if self.kill and self._running is not None and self._is_over():
            self._target().connect().kill(*self._running)

    def _target(self) -> Target:
        return Target(self.namespace, self.context, self.kubeconfig)

    def _request(self, context: Context) -> TaskRequest:
        instance = context["ti"]
        parts = (instance.dag_id, instance.run_id, instance.task_id, str(instance.map_index))
        return TaskRequest(self.request_id or "/".join(parts), instance.try_number)

    def _applied(self, cluster: api.Connection) -> str:
        """Apply the document as a suspended template; returns the application's name."""
        inputs = api.Inputs(
            (self.document,),
            values=tuple(self.values),
            sets=("spec.suspend=true",),
            configured=api.configured(Path(self.document).parent),
        )
        checked = api.validate(inputs, self.namespace)
        if checked.errors:
            errors = [one for one in checked.problems if one.severity is api.Severity.ERROR]
            lines = [f"{one.position}: {one.message}; {one.next_step}".rstrip("; ") for one in errors]
            raise AirflowException("\n".join(lines))
        if len(checked.documents) != 1:
            raise AirflowException(
                f"{self.document} has {len(checked.documents)} applications; a task runs one"
            )
        cluster.apply(checked.documents)
        return str(checked.documents[0].value["metadata"]["name"])

    def _print_log(self, cluster: api.Connection, application: str, run: str) -> None:
        if not self.log_lines:
            return
        try:
            for line in cluster.logs(application, run, tail=self.log_lines):
                self.log.info("%s", line.encode(errors="replace").decode().rstrip("\n"))
        except api.SparkgenError as error:
            self.log.warning("%s", error)


def _is_over(context: Context) -> bool:
    """Whether the task no longer counts as running. What cannot be known is no reason to stop."""
    instance = context["ti"]
    try:
        states = instance.get_task_states(
            dag_id=instance.dag_id,
            map_index=instance.map_index,
            task_ids=[instance.task_id],
            run_ids=[instance.run_id],
        )
    except Exception:  # noqa: BLE001 - whatever happens in a process that is being stopped
        return False
    return "running" not in {state for run in states.values() for state in run.values()}
