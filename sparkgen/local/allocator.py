"""The allocator of a local run: the same as in a cluster, on threads of this process."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TextIO

from sparkgen import contract
from sparkgen.local.errors import CannotRun
from sparkgen.local.plan import Plan
from sparkgen.local.ports import LOOPBACK
from sparkgen.local.world import Clock
from sparkgen.runtime.allocator.allocator import Allocator, ListenAddress, Parts
from sparkgen.runtime.allocator.driver import session as sessions
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.session import Session
from sparkgen.runtime.allocator.driver.sessions import SessionMode
from sparkgen.runtime.allocator.driver.tuning import BadTuning, FixedSettings, TuningFile
from sparkgen.runtime.allocator.pods.template import TemplateError, executor_pod, grace_of, read_template
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.session_parts import notebook_rules
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import ExecutorBackend
from sparkgen.runtime.allocator.values.clock import ClockAndRandom


@dataclass(slots=True)
class Begun:
    """What an allocator starts with: the session (its files are written), settings, and the pod template."""

    session: Session
    tuned: TuningFile
    template: Mapping[str, Any]
    attempt: Attempt
    """With the id of the current driver's application: executors with another id could not work with it."""

    def set_application_id(self, text: str) -> None:
        """Set the application id of a new driver: a notebook has one driver after another."""
        self.attempt = replace(self.attempt, application_id=text)


def begin(plan: Plan, new_text: Callable[[], str]) -> Begun:
    """Write the files that the driver starts with. Raises CannotRun if the document does not allow it.

    `new_text` returns a new random text at each call, fit for a secret.
    """
    folders = plan.folders
    try:
        template = read_template(plan.template)
        tuned = TuningFile(
            folders.tuning, FixedSettings(grace_of(template)), folders.session / contract.TUNING_FILE
        )
        mode = SessionMode.NOTEBOOK if plan.ports.notebook else None
        place = sessions.DriverLocation(folders.session, plan.attempt.application_id, LOOPBACK, mode)
        if mode is not None:
            sessions.copy_conf(folders.conf, folders.session)
        session = sessions.begin(place, plan.spark_defaults, tuned.settings, new_text)
        # The document may set the application id, and driver and executors must use the same one.
        attempt = replace(plan.attempt, application_id=session.application_id)
        return Begun(session, tuned, template, attempt)
    except BadTuning as error:
        raise CannotRun(
            f"the document's settings of executors and of `allocation` are invalid: {error}"
        ) from None
    except (sessions.BadSession, TemplateError) as error:
        raise CannotRun(str(error)) from None


def allocator(
    plan: Plan, begun: Begun, world: ExecutorBackend, log: TextIO, now: Clock, show: Callable[[Round], None]
) -> Allocator:
    """The allocator of a run, before its start. `log`: the file for its log."""
    story = Log(log, now)
    parts = Parts(
        backend=world,
        attempt=plan.attempt,
        session=begun.session,
        settings_source=begun.tuned,
        log=story,
        clock_and_random=ClockAndRandom(time.monotonic, random.random),
        tag=hashlib.sha256(f"tag: {begun.session.token}".encode()).hexdigest()[:8],
        scheduler=ListenAddress(LOOPBACK, plan.ports.scheduler),
        public=ListenAddress(LOOPBACK, plan.ports.allocator),
        show=show,
        set_application_id=begun.set_application_id,
    )
    rules = notebook_rules(begun.session.notes.session, plan.ports.driver, story)
    return Allocator(replace(parts, rules=rules) if plan.ports.notebook else parts)


def pod(plan: Plan, begun: Begun, order: Create) -> dict[str, Any]:
    """An executor's pod, as in a cluster, with the addresses of this machine."""
    start_url = f"http://{LOOPBACK}:{plan.ports.allocator}{contract.START_PATH}/{order.id}/start"
    driver_url = f"spark://CoarseGrainedScheduler@{LOOPBACK}:{plan.ports.driver}"
    return executor_pod(begun.template, begun.attempt, order, start_url, driver_url)
