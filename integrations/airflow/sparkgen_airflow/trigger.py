"""Waits for a run in Airflow's triggerer, without a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from sparkgen import api
from sparkgen_airflow.values import Target, event_of


class SparkgenRunTrigger(BaseTrigger):
    """Fires one event when a run has ended. If somebody cancels the task, it stops the run."""

    def __init__(
        self, application: str, run: str, target: dict[str, str], interval: float, kill: bool
    ) -> None:
        super().__init__()
        self.application, self.run_name, self.target = application, run, Target(**target)
        self.interval, self.kill = interval, kill

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Returns the name of this class and its arguments: another triggerer may go on with it."""
        arguments = {
            "application": self.application,
            "run": self.run_name,
            "target": asdict(self.target),
            "interval": self.interval,
            "kill": self.kill,
        }
        return f"{type(self).__module__}.{type(self).__qualname__}", arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield how the run has ended; or the error because of which nobody can know."""
        try:
            end = await self._cluster().wait(self.application, self.run_name, interval=self.interval)
        except api.SparkgenError as error:
            yield TriggerEvent({"run": self.run_name, "error": str(error), "code": error.code})
            return
        yield TriggerEvent(event_of(end))

    async def on_kill(self) -> None:
        """Stop the run: somebody has marked the task as failed or succeeded, or has cleared it."""
        if self.kill:
            await self._cluster().kill(self.application, self.run_name)

    def _cluster(self) -> api.AsyncConnection:
        return api.AsyncConnection(self.target.connect())
