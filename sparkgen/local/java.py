"""The Java that runs Spark here: 17 or 21, from JAVA_HOME or the PATH."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen.local.errors import CannotRun
from sparkgen.spark_versions import JAVA

INSTALL = (
    "install one (Debian, Ubuntu: apt install openjdk-17-jre-headless; Fedora: dnf install "
    "java-17-openjdk-headless; macOS: brew install openjdk@17), or set JAVA_HOME to one"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java: its home, its version (such as 17), and where it was found."""

    home: Path
    version: int
    where: str

    @property
    def command(self) -> Path:
        """The path of the program."""
        return self.home / "bin" / "java"


def find(environment: Mapping[str, str]) -> Java:
    """The first Java that Spark runs on. Raises CannotRun, which lists the others that were found."""
    others = []
    for command, where in _candidates(environment):
        found = ask(command, where)
        if found is None:
            others.append(f"{where} does not run")
        elif found.version not in JAVA:
            others.append(f"{where} is Java {found.version}")
        else:
            return found
    wanted = " or ".join(map(str, JAVA))
    seen = "; ".join(others) or "there is none: JAVA_HOME is not set, and no java is on the PATH"
    raise CannotRun(f"Spark needs Java {wanted}, and {seen}; {INSTALL}")


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java", f"JAVA_HOME ({home})"
    if command := shutil.which("java", path=environment.get("PATH")):
        yield Path(command), f"java of the PATH ({command})"


def ask(command: Path, where: str) -> Java | None:
    """The properties that a java prints; None if it prints none (as macOS' java that only advertises one)."""
    try:
        done = subprocess.run(
            [str(command), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse(done.stderr + done.stdout, where)


def parse(text: str, where: str) -> Java | None:
    """The Java that printed these settings."""
    home = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?([0-9]{1,9})", text, re.MULTILINE)
    return Java(Path(home[1].strip()), int(version[1]), where) if home and version else None
