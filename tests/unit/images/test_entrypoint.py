"""The entrypoint of a Spark image with the runtime in it, run for real in a folder that stands for /opt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.runtime_image import RECIPE_WITH_SPARK
from sparkgen import contract
from sparkgen.runtime.__main__ import USAGE

TELL = f"""#!{sys.executable}
import json, os, sys
print(json.dumps([os.path.basename(sys.argv[0]), sys.argv[1:], os.environ.get("SPARK_SUBMIT_OPTS")]))
"""

Call = Callable[..., tuple[str, list[str], str | None]]


@pytest.fixture
def opt(tmp_path: Path) -> Path:
    """What stands for /opt, with a stock entrypoint and a runtime that tell what they were called with."""
    for name in ("entrypoint.sh", "sparkgen-runtime/sparkgen-runtime"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TELL)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "classes.jsa").write_text("")
    (tmp_path / "classes.jsa.classpath").write_text("/jars/a.jar:/jars/b.jar")
    return tmp_path


@pytest.fixture
def call(opt: Path) -> Call:
    """A function: what is run in the end for these arguments, and the options of the driver's Java."""
    script = opt / "script.sh"
    script.write_text((RECIPE_WITH_SPARK / "entrypoint.sh").read_text().replace("/opt/", f"{opt}/"))

    def run(*arguments: str, **variables: str) -> tuple[str, list[str], str | None]:
        env = {"PATH": os.environ["PATH"], contract.ENV_CLASS_ARCHIVE: f"{opt}/classes.jsa", **variables}
        done = subprocess.run(
            ["sh", str(script), *arguments], env=env, capture_output=True, text=True, check=False, timeout=30
        )
        assert (done.returncode, done.stderr) == (0, "")
        program, given, options = json.loads(done.stdout)
        return program, given, options

    return run


def a_driver_with(opt: Path, *class_path: str) -> None:
    """The properties that the allocator writes for a driver with this class path."""
    properties = opt / Path(contract.SESSION_PROPERTIES).relative_to("/opt")
    properties.parent.mkdir(parents=True)
    path = ":".join(class_path)
    properties.write_text(f"spark.app.id=pi\nspark.driver.extraClassPath={path}\nspark.driver.port=7078\n")


COMMANDS = re.findall(r"^  ([a-z-]+)\b", USAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_runtime_is_the_runtimes(call: Call, command: str) -> None:
    """All that the runtime's image can do, this one can, too."""
    assert len(COMMANDS) > 5
    assert call(command, "more") == ("sparkgen-runtime", [command, "more"], None)


@pytest.mark.parametrize("arguments", [("executor",), ("bash", "/opt/executor.sh"), ()])
def test_all_else_is_sparks(call: Call, arguments: tuple[str, ...]) -> None:
    """As they were given."""
    assert call(*arguments) == ("entrypoint.sh", list(arguments), None)


def test_a_driver_begins_with_the_archive_of_classes(call: Call, opt: Path) -> None:
    """With the class path that the archive was made for; the image's own options of Java stay."""
    jar = f"{opt}{contract.SCHEDULER_JAR.removeprefix('/opt')}"
    a_driver_with(opt, jar)
    program, given, options = call(
        "driver", "--properties-file", "p", "app.py", SPARK_SUBMIT_OPTS="-Dof=image"
    )
    assert program == "entrypoint.sh"
    path = f"/jars/a.jar:/jars/b.jar:{jar}"
    assert given == ["driver", "--driver-class-path", path, "--properties-file", "p", "app.py"]
    first, *_, last = (options or "").split()
    assert (first, last) == (f"-XX:SharedArchiveFile={opt}/classes.jsa", "-Dof=image")


def test_a_documents_own_class_path_comes_first(call: Call, opt: Path) -> None:
    """Something before Spark's jars: the archive would not fit, and what the document says counts."""
    a_driver_with(opt, f"{opt}{contract.SCHEDULER_JAR.removeprefix('/opt')}", "/mine/*")
    assert call("driver", "app.py") == ("entrypoint.sh", ["driver", "app.py"], None)


def test_a_driver_of_another_backend_starts_as_ever(call: Call) -> None:
    """Without the properties of a session, nothing is added."""
    assert call("driver", "app.py") == ("entrypoint.sh", ["driver", "app.py"], None)


@pytest.mark.parametrize("archive", ["", "/not/there.jsa"])
def test_an_image_without_an_archive(call: Call, opt: Path, archive: str) -> None:
    """`--build-arg CLASS_ARCHIVE=` leaves it out."""
    a_driver_with(opt, f"{opt}{contract.SCHEDULER_JAR.removeprefix('/opt')}")
    assert call("driver", "app.py", SPARKGEN_CLASS_ARCHIVE=archive) == (
        "entrypoint.sh",
        ["driver", "app.py"],
        None,
    )
