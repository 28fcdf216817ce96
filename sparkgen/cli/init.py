"""`sparkgen init`: writes a document to start from."""

from __future__ import annotations

import enum
import os
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from sparkgen.cli import output
from sparkgen.errors import SparkgenError
from sparkgen.spark_versions import NEWEST, SUGGESTED, scala_line

SUMMARY = "Write a commented, valid document to start from."
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

_NAME, _SERVICE_NAME, _HISTORY_NAME, _CONNECT_NAME = "my-app", "shuffle-35", "spark-history", "team-a"
_NOTEBOOK_NAME = "my-notebook"
_EXAMPLES_JAR = f"local:///opt/spark/examples/jars/spark-examples_{scala_line(SUGGESTED)}-{SUGGESTED}.jar"


class Language(str, enum.Enum):
    """The languages of applications."""

    PYTHON = "python"
    JAVA = "java"
    SCALA = "scala"
    R = "r"


# Programs that the stock images contain, so that a new document runs as it is.
_STARTS = {
    Language.PYTHON: {
        "type": "Python",
        "image": f"docker.io/apache/spark:{SUGGESTED}",
        "main_file": "local:///opt/spark/examples/src/main/python/pi.py",
        "arguments": '["100"]',
    },
    Language.JAVA: {
        "type": "Java",
        "image": f"docker.io/apache/spark:{SUGGESTED}",
        "main_class": "org.apache.spark.examples.JavaSparkPi",
        "main_file": _EXAMPLES_JAR,
        "arguments": '["100"]',
    },
    Language.SCALA: {
        "type": "Scala",
        "image": f"docker.io/apache/spark:{SUGGESTED}",
        "main_class": "org.apache.spark.examples.SparkPi",
        "main_file": _EXAMPLES_JAR,
        "arguments": '["100"]',
    },
    Language.R: {
        "type": "R",
        "image": f"docker.io/apache/spark:{SUGGESTED}-r",
        "main_file": "local:///opt/spark/examples/src/main/r/dataframe.R",
    },
}


def command(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="File to write, or - for standard output.", allow_dash=True),
    ] = "app.yaml",
    language: Annotated[
        Language | None,
        typer.Option("--type", help="Language of the application (default python).", case_sensitive=False),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help=f"Name (default {_NAME}; or {_SERVICE_NAME}, {_HISTORY_NAME}, {_CONNECT_NAME}, "
            f"{_NOTEBOOK_NAME}).",
        ),
    ] = None,
    scheduled: Annotated[
        bool, typer.Option("--scheduled", help="Run the application on a schedule.")
    ] = False,
    shuffle_service: Annotated[
        bool, typer.Option("--shuffle-service", help="Write a shuffle service instead of an application.")
    ] = False,
    history_server: Annotated[
        bool, typer.Option("--history-server", help="Write a history server instead of an application.")
    ] = False,
    connect: Annotated[
        bool, typer.Option("--connect", help="Write a Spark Connect server instead of an application.")
    ] = False,
    notebook: Annotated[
        bool,
        typer.Option(
            "--notebook",
            help=("Write a JupyterLab notebook instead of an application. Its kernels are drivers."),
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
) -> None:
    """Write a document to start from."""
    services = {
        "--shuffle-service": shuffle_service,
        "--history-server": history_server,
        "--connect": connect,
        "--notebook": notebook,
    }
    asked = [option for option, given in services.items() if given]
    if len(asked) > 1:
        raise SparkgenError(f"{' and '.join(asked)} write different documents; run the command once for each")
    if asked and (scheduled or language):
        raise SparkgenError(
            f"{asked[0]} does not write an application; leave out {asked[0]}, or --type and --scheduled"
        )
    if name is not None:
        _check_name(name)
    if shuffle_service:
        text = service_document(name or _SERVICE_NAME)
    elif history_server:
        text = history_document(name or _HISTORY_NAME)
    elif connect:
        text = connect_document(name or _CONNECT_NAME)
    elif notebook:
        text = notebook_document(name or _NOTEBOOK_NAME)
    else:
        text = document(language or Language.PYTHON, name or _NAME, scheduled=scheduled)
    if file == "-":
        output.data(text)
        return
    _save(Path(file), text, force=force)
    word = shlex.quote(file)
    output.note(f"wrote {file}; next: sparkgen validate {word}, then sparkgen render {word}")


def document(language: Language, name: str, *, scheduled: bool) -> str:
    """Returns the text of a new application's document."""
    values = {"main_class": "", "arguments": "", **_STARTS[language]}
    spec = "spec.template" if scheduled else "spec"
    return _filled("app.yaml.j2", name, **values, scheduled=scheduled, spec=spec)


def service_document(name: str) -> str:
    """Returns the text of a new shuffle service's document."""
    return _filled("shuffle-service.yaml.j2", name, image=_STARTS[Language.PYTHON]["image"])


def history_document(name: str) -> str:
    """Returns the text of a new history server's document."""
    return _filled("history-server.yaml.j2", name, image=_STARTS[Language.PYTHON]["image"])


def connect_document(name: str) -> str:
    """Returns the text of a new Connect server's document. Only Spark 4 asks for a token."""
    version = NEWEST.version
    image = f"docker.io/apache/spark:{version}-python3"
    return _filled(
        "connect-server.yaml.j2", name, spark_version=version, image=image, secret=f"{name}-connect"
    )


def notebook_document(name: str) -> str:
    """Returns the text of a new notebook's document."""
    version = NEWEST.version
    image = f"registry.example.com/team/spark-notebook:{version}"
    secret, claim = f"{name}-notebook", f"{name}-home"
    return _filled("notebook.yaml.j2", name, spark_version=version, image=image, secret=secret, claim=claim)


def _filled(template: str, name: str, **values: object) -> str:
    """Returns a template's text with a name and values."""
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
    every = {"spark_version": SUGGESTED, **values, "name": scalar(name)}
    text = environment.get_template(template).render(every)
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
