"""`sparkgen init`: writes a document to start from."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.errors import SparkgenError
from sparkgen.spark_versions import NEWEST, SUGGESTED, scala_line

HELP = """Write a commented, valid document to start from.

The command asks no questions, and does not overwrite a file without --force.
The document runs an example from the stock Spark image; replace the example with your application. Some
options write another kind of document: a shuffle service (for spec.shuffleService), a history server (for
spec.eventLog), a Spark Connect server for a team, or a notebook for one person.
"""
EXAMPLES = """\b
Examples:
  sparkgen init                    # a Python application in app.yaml
  sparkgen init --type scala --name daily-report
  sparkgen init --scheduled jobs/nightly.yaml
  sparkgen init --type java -      # to standard output
  sparkgen init --shuffle-service shuffle.yaml
  sparkgen init --history-server history.yaml
  sparkgen init --connect --name team-a team-a.yaml
  sparkgen init --notebook --name ada ada.yaml
"""

_NAME = "my-app"
_IMAGE = f"docker.io/apache/spark:{SUGGESTED}"
_EXAMPLES_JAR = f"local:///opt/spark/examples/jars/spark-examples_{scala_line(SUGGESTED)}-{SUGGESTED}.jar"
# Programs that the stock images contain, so that a new document runs as it is.
_LANGUAGES = {
    "python": {
        "type": "Python",
        "image": _IMAGE,
        "main_file": "local:///opt/spark/examples/src/main/python/pi.py",
        "arguments": '["100"]',
    },
    "java": {
        "type": "Java",
        "image": _IMAGE,
        "main_class": "org.apache.spark.examples.JavaSparkPi",
        "main_file": _EXAMPLES_JAR,
        "arguments": '["100"]',
    },
    "scala": {
        "type": "Scala",
        "image": _IMAGE,
        "main_class": "org.apache.spark.examples.SparkPi",
        "main_file": _EXAMPLES_JAR,
        "arguments": '["100"]',
    },
    "r": {
        "type": "R",
        "image": f"{_IMAGE}-r",
        "main_file": "local:///opt/spark/examples/src/main/r/dataframe.R",
    },
}


class _Server(NamedTuple):
    """A document that describes no application. `name`: its default name."""

    template: str
    name: str
    image: str = _IMAGE
    spark_version: str = SUGGESTED


_SERVERS = {
    "shuffle_service": _Server("shuffle-service.yaml.j2", "shuffle-35"),
    "history_server": _Server("history-server.yaml.j2", "spark-history"),
    # Only Spark 4 asks for a token.
    "connect": _Server(
        "connect-server.yaml.j2",
        "team-a",
        f"docker.io/apache/spark:{NEWEST.version}-python3",
        NEWEST.version,
    ),
    "notebook": _Server(
        "notebook.yaml.j2",
        "my-notebook",
        f"registry.example.com/team/spark-notebook:{NEWEST.version}",
        NEWEST.version,
    ),
}
"""The options for documents that describe no application, by their fields."""


@dataclass(frozen=True)
class InitOptions:
    """The file to write, and what kind of document; "" for what is not given."""

    file: str
    language: str
    name: str
    scheduled: bool
    shuffle_service: bool
    history_server: bool
    connect: bool
    notebook: bool
    force: bool


def init(options: InitOptions) -> None:
    """Write a document to start from."""
    text = _text(options)
    if options.file == "-":
        output.data(text)
        return
    _save(Path(options.file), text, force=options.force)
    word = shlex.quote(options.file)
    output.note(f"wrote {options.file}; next: sparkgen validate {word}, then sparkgen render {word}")


def _text(options: InitOptions) -> str:
    """Returns the text of the document. Raises SparkgenError for options of different documents."""
    asked = [field for field in _SERVERS if getattr(options, field)]
    flags = [f"--{field.replace('_', '-')}" for field in asked]
    if len(flags) > 1:
        raise SparkgenError(f"{' and '.join(flags)} write different documents; run the command once for each")
    if flags and (options.scheduled or options.language):
        raise SparkgenError(
            f"{flags[0]} does not write an application; leave out {flags[0]}, or --type and --scheduled"
        )
    if options.name:
        _check_name(options.name)
    if asked:
        server = _SERVERS[asked[0]]
        image = {"image": server.image, "spark_version": server.spark_version}
        return _filled(server.template, options.name or server.name, image)
    values = {"main_class": "", "arguments": "", **_LANGUAGES[options.language or "python"]}
    place = {"scheduled": options.scheduled, "spec": "spec.template" if options.scheduled else "spec"}
    return _filled("app.yaml.j2", options.name or _NAME, {**values, **place, "spark_version": SUGGESTED})


COMMAND = command(
    InitOptions,
    init,
    Option("file", "FILE", "File to write, or - for standard output.", default="app.yaml"),
    Option("language", "--type", "Language of the application (default python).", choices=tuple(_LANGUAGES)),
    Option(
        "name",
        "--name NAME",
        f"Name (default {_NAME}; or {', '.join(server.name for server in _SERVERS.values())}).",
    ),
    Option("scheduled", "--scheduled", "Run the application on a schedule."),
    Option("shuffle_service", "--shuffle-service", "Write a shuffle service instead of an application."),
    Option("history_server", "--history-server", "Write a history server instead of an application."),
    Option("connect", "--connect", "Write a Spark Connect server instead of an application."),
    Option(
        "notebook",
        "--notebook",
        "Write a JupyterLab notebook instead of an application. Its kernels are drivers.",
    ),
    Option("force", "--force", "Overwrite FILE if it exists."),
)


def _filled(template: str, name: str, values: Mapping[str, object]) -> str:
    """Returns a template's text with a name and values. `stem` in it begins longer names."""
    from jinja2 import (  # noqa: PLC0415 - 40 ms for this command only
        Environment,
        FunctionLoader,
        StrictUndefined,
    )

    from sparkgen.yamltext import scalar  # noqa: PLC0415

    folder = files("sparkgen").joinpath("templates", "init")
    environment = Environment(
        loader=FunctionLoader(lambda template: folder.joinpath(template).read_text(encoding="utf-8")),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - YAML and no HTML; the only text from outside is a checked name
    )
    text = environment.get_template(template).render({**values, "name": scalar(name), "stem": name})
    return "\n".join(line.rstrip(" \t") for line in text.rstrip("\n").split("\n")) + "\n"


def _check_name(name: str) -> None:
    from sparkgen.names import MAX_APPLICATION_NAME as LONGEST  # noqa: PLC0415

    if len(name) > LONGEST or not re.fullmatch(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", name):
        raise SparkgenError(
            f"--name {name!r} is not a valid name; use at most {LONGEST} lower-case letters, digits and "
            "dashes, with a letter first and no dash last"
        )


def _save(path: Path, text: str, *, force: bool) -> None:
    """Write a file. Raises SparkgenError if it exists and `force` is not set, or if it cannot be written."""
    from sparkgen.writers.atomic import replace  # noqa: PLC0415 - one command needs it
    from sparkgen.writers.repository import refuse_way_out  # noqa: PLC0415

    refuse_way_out(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if force:  # a link is replaced, not followed
            replace(path.parent, {path.name: text})
            return
        with open(os.open(path, flags, 0o666), "wb") as file:  # noqa: PTH123 - a handle that never follows a race
            file.write(text.encode())
    except OSError as error:
        if path.exists() and not force:
            raise SparkgenError(
                f"{path} exists already; give another file, or overwrite it with --force"
            ) from error
        reason = error.strerror or error
        raise SparkgenError(
            f"cannot write {path}: {reason}; give another file, or - for standard output"
        ) from error
