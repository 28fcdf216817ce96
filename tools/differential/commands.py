"""Cases as files: one spark-submit command each, below a comment that says what it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMMON = """\
--master k8s://@API@ --deploy-mode cluster --name @NAME@ \\
  --conf spark.kubernetes.namespace=@NAMESPACE@ \\
  --conf spark.kubernetes.container.image=@IMAGE@ \\
  --conf spark.kubernetes.authenticate.driver.serviceAccountName=spark \\
  --conf spark.kubernetes.driver.request.cores=100m \\
  --conf spark.kubernetes.executor.request.cores=100m \\
  --conf spark.kubernetes.submission.waitAppCompletion=false \\
  --conf spark.kubernetes.submission.connectionTimeout=60000 \\
  --conf spark.kubernetes.driver.connectionTimeout=60000 \\
  --conf spark.driver.memory=600m \\
  --conf spark.executor.memory=600m \\
  --conf spark.executor.instances=1"""
"""What `@COMMON@` of a command stands for.

Spark's own backend gives up after ten seconds, which is too soon on a busy machine.
"""
_FIELD = re.compile(r"(versions|differs): *(.*)")
_COMMAND = re.compile(r"(\w+=\S+ )*spark-submit ")
_PLACE = re.compile(r"@([A-Z0-9_]+)@")


@dataclass(frozen=True, slots=True)
class Case:
    """A case: its name, what it is about, its command, and the rows of the table that it needs.

    `versions`: those of Spark that it is for; empty where it is for all.
    """

    name: str
    title: str
    command: str
    differs: frozenset[str] = frozenset()
    versions: tuple[str, ...] = ()

    def is_for(self, version: str) -> bool:
        """Whether the case is for a version of Spark."""
        return not self.versions or version.startswith(self.versions)


def read(path: Path) -> Case:
    """The case in a file. ValueError where the file has no title or no command."""
    lines = path.read_text("utf-8").splitlines()
    notes = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    command = "\n".join(line for line in lines if not line.startswith("#")).strip()
    fields = {found[1]: found[2] for note in notes if (found := _FIELD.fullmatch(note))}
    title = " ".join(note for note in notes if not _FIELD.fullmatch(note))
    if not title or not _COMMAND.match(command):
        raise ValueError(f"{path.name}: a case has a comment with its title, and one spark-submit command")
    return Case(
        path.stem,
        title,
        command,
        frozenset(_words(fields.get("differs", ""))),
        tuple(_words(fields.get("versions", ""))),
    )


def read_all(folder: Path) -> tuple[Case, ...]:
    """The cases of a folder, by name."""
    return tuple(read(path) for path in sorted(folder.glob("*.sh")))


def filled(case: Case, values: Mapping[str, str]) -> str:
    """The command with the values for its places, such as @IMAGE@. KeyError for a place without a value."""
    text = case.command.replace("@COMMON@", COMMON)
    return _PLACE.sub(lambda place: values[place[1]], text)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
