"""Gathers everything that a local run needs, before anything is started."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkgen import contract
from sparkgen.local import connect, jars, java, machine, notebook, ports, spark
from sparkgen.local import folders as folders_of
from sparkgen.local.folders import Folders
from sparkgen.local.launch import Setting, Start, driver, main_file, spark_container
from sparkgen.local.path_mapping import PathMapping, parse_maps
from sparkgen.local.progress import Progress
from sparkgen.local.properties import Ports, local_properties
from sparkgen.local.scala import Compiler
from sparkgen.model.application import Application
from sparkgen.resources import run_name
from sparkgen.resources.conf import tuning_files
from sparkgen.resources.driver import driver_pod
from sparkgen.resources.run import files
from sparkgen.resources.text import properties_text
from sparkgen.runtime.allocator.values.attempt import Attempt, new_attempt


@dataclass(frozen=True, slots=True)
class LocalRun:
    """The input of a run: the application of the document in `folder`, with these mappings of paths.

    `python_path`: folders with modules, for driver and executors.
    """

    application: Application
    folder: Path
    maps: Sequence[str]
    environment: Mapping[str, str]
    python_path: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, ready to start. `spark_defaults` and `template` are texts, as in a ConfigMap."""

    application: Application
    attempt: Attempt
    setting: Setting
    ports: Ports
    spark_defaults: str
    template: str

    @property
    def folders(self) -> Folders:
        """The folders of the run's files."""
        return self.setting.folders

    @property
    def ui(self) -> str:
        """The URL of Spark's UI, while the driver runs."""
        return f"http://{ports.LOOPBACK}:{self.ports.ui}"

    @property
    def serves(self) -> bool:
        """Whether it is a server, which runs until it is told to end."""
        return bool(self.ports.connect or self.ports.notebook)

    def answers(self) -> bool:
        """Whether the server answers."""
        if self.ports.notebook:
            return notebook.answers(self.ports.notebook)
        return connect.answers(self.ports.connect)

    def told(self, driver: Mapping[str, str]) -> list[str]:
        """The lines with what a user needs for using the server. `driver`: the driver's variables."""
        if self.ports.notebook:
            return notebook.lines(self.ports.notebook, self.folders, self.setting.environment)
        return connect.lines(self.ports.connect, connect.token_place(self.application, driver))

    def driver(self, properties: Path) -> Start:
        """The command and variables for starting the driver with these properties."""
        pod = driver_pod(self.application, self.attempt.run)
        container = spark_container(pod, contract.DRIVER_CONTAINER)
        start = driver(self.application, container, self.setting, properties)
        if not self.ports.notebook:
            return start
        own = notebook.variables(self.folders, self.ports.notebook, self.setting.environment)
        return Start(notebook.command(self.folders), {**start.environment, **own})


def make(wanted: LocalRun, uid: Callable[[], str], chance: random.Random, progress: Progress) -> Plan:
    """Make the plan of a run: find, download or compile what it needs. Raises CannotRun if that fails."""
    application, environment = wanted.application, wanted.environment
    connect.check(application)
    notebook.check(application, environment)
    maps = parse_maps(wanted.maps)
    found = java.find(environment)
    home = spark.find(application.spark_version, application.scala_version, environment, progress)
    compiler = Compiler(home.version, home.scala, lambda: home.home, lambda: found.command)
    places = PathMapping(
        home.home, wanted.folder, maps, lambda: jars.examples(compiler, environment, progress)
    )
    main_file(application, places)  # before the steps that take time
    jar = jars.scheduler(compiler, environment, progress)
    for complaint in machine.complaints(application, machine.here()):
        progress.say(complaint)
    run = run_name(application)
    attempt = new_attempt(application.name, run, application.namespace, run, uid(), ports.LOOPBACK)
    chosen = choose_ports(
        chance, connect=application.connect is not None, notebook=application.notebook is not None
    )
    properties = local_properties(application, places, jar, chosen)
    made = folders_of.make(attempt.application_id, environment)
    run_files = files(application, run)
    folders_of.write(made, run_files, tuning_files(application))
    if application.notebook is not None:
        notebook.write_token(made, environment)
    for key in application.conf_files.keys:
        if here := places.mapped(f"{contract.CONF_DIR}/{key.file}"):
            shutil.copyfile(here, made.conf / key.file)
    return Plan(
        application=application,
        attempt=attempt,
        setting=Setting(
            home,
            found,
            places,
            made,
            environment,
            hadoop=bool(application.hadoop),
            python_path=tuple(wanted.python_path),
        ),
        ports=chosen,
        spark_defaults=properties_text(properties.items()),
        template=run_files["executor"][contract.EXECUTOR_TEMPLATE_FILE],
    )


def choose_ports(chance: random.Random, *, connect: bool = False, notebook: bool = False) -> Ports:
    """Free ports: the default ones of the UI and of servers if they are free, random ones for the others."""
    scheduler, allocator, driver_port = ports.choose(3, chance.sample(ports.RANGE, 200))
    return Ports(
        scheduler=scheduler,
        allocator=allocator,
        driver=driver_port,
        ui=_from(contract.UI_PORT),
        connect=_from(contract.CONNECT_PORT) if connect else 0,
        notebook=_from(contract.NOTEBOOK_PORT) if notebook else 0,
    )


def _from(first: int) -> int:
    return ports.choose(1, range(first, first + 1000))[0]
