"""One command, submitted by spark-submit and by sparkgen with each allocator: the table has what differs.

A file in `commands/` is a case: a comment with its title, and one `spark-submit` command.
`inputs/probe.py` and `inputs/Probe.java` print what driver and executors see.
To add a case, write its file, and run it: `make e2e-full TESTS="tests/e2e/differential -k NAME"`.
If it fails at a difference that is right, add a pattern to a row of `DIFFERENCES`, or a row; if only
`allocator: spark` has it, to `BY_SPARKS_BACKEND`.
A comment `# differs: ROW` names the rows that the case needs beyond those of `python.sh`.
A comment `# versions: 4` limits the case to the versions of Spark that begin so.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from cluster.images import TESTED_VERSIONS
from cluster.plan import API_SERVER
from differential import commands, reports, sides
from differential.ahead import WORKERS, Ahead
from differential.commands import Case
from differential.differences import TABLES
from differential.reports import Differs
from differential.sides import Place, Side
from spark import spark_home

pytestmark = [pytest.mark.full, pytest.mark.own_cluster]
CASES = commands.read_all(Path(__file__).with_name("commands"))
COMPANIONS = Path(__file__).with_name("inputs") / "here"
"""What lies beside each command."""
BASE = next(case for case in CASES if case.name == "python")
"""The case whose rows every other case may need."""
KEEP = "SPARKGEN_DIFFERENTIAL"
"""The variable that names a folder in which the reports of each case are kept."""
NATIVE = "native"
SIDES = (NATIVE, *TABLES)
"""What submits a command: Spark's own spark-submit, or sparkgen with one of its allocators."""
Key = tuple[Case, str]
Sides = Mapping[str, Side]


def parameters() -> Iterator[ParameterSet]:
    """Each case with each version that it is for."""
    for case in CASES:
        for version in filter(case.is_for, TESTED_VERSIONS):
            yield pytest.param(case, version, id=f"{case.name}-{version}")


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest,
    place: Place,
    probe_images: dict[str, str],
    web_address: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Ahead[Key, Sides]]:
    """The runs of the cases that are played, each with all sides."""
    values = {"API": API_SERVER, "NAMESPACE": place.namespace, "WEB": web_address}

    def all_sides(key: Key, number: int) -> Sides:
        name, version = f"case-{number}", key[1]
        of_case = {**values, "NAME": name, "IMAGE": probe_images[version], "VERSION": version}
        return run(key, place, of_case, tmp_path_factory.mktemp(name))

    ahead = Ahead(all_sides, list(played(request.session)))
    yield ahead
    ahead.close()


def played(session: pytest.Session) -> Iterator[Key]:
    """The cases of a session that are not skipped."""
    for item in session.items:
        if item.path == Path(__file__) and not item.get_closest_marker("skip"):
            yield item.callspec.params["case"], item.callspec.params["version"]


def run(key: Key, place: Place, values: Mapping[str, str], target: Path) -> Sides:
    """All sides of a case, two at the same time, each with a folder and a name of its own."""
    case, version = key
    home = spark_home.ensure(version)

    def side(word: str) -> Side:
        folder, name = target / word, f"{values['NAME']}-{word}"
        shutil.copytree(COMPANIONS, folder)
        script = folder / "submit.sh"
        script.write_text(commands.filled(case, {**values, "NAME": name}) + "\n")
        if word == NATIVE:
            return sides.native(place, home, script, name)
        return sides.imported(place, script, name, word)

    with ThreadPoolExecutor(WORKERS) as pool:
        made = dict(zip(SIDES, pool.map(side, SIDES), strict=True))
    keep(f"{case.name}-{version}", target, made)
    return made


def keep(name: str, folder: Path, made: Sides) -> None:
    """Keep what a case came to, where that is asked for."""
    if target := os.environ.get(KEEP):
        for word, side in made.items():
            kept = Path(target) / name / word
            shutil.copytree(folder / word, kept, dirs_exist_ok=True)
            (kept / "report.json").write_text(json.dumps(side.report, indent=1, sort_keys=True))
            (kept / "names.json").write_text(json.dumps(side.names, indent=1))
            (kept / "driver.log").write_text(side.log)


def found(made: Sides, allocator: str) -> list[Differs]:
    """What differs between spark-submit and sparkgen with an allocator."""
    native, imported = (
        reports.normalised(made[word].report, made[word].names) for word in (NATIVE, allocator)
    )
    return [*reports.differences(*reports.comparable(native, imported))]


@pytest.mark.parametrize(("case", "version"), parameters())
def test_an_application_differs_as_the_table_says(case: Case, version: str, runs: Ahead[Key, Sides]) -> None:
    """Each difference has a row, and each row that the case names has a difference."""
    made = runs.result((case, version))
    for allocator, table in TABLES.items():
        known, unknown = reports.explained(found(made, allocator), table)
        assert not unknown, "\n".join((f"with `allocator: {allocator}`:", *map(str, unknown)))
        needed = case.differs & {row.name for row in table}
        assert needed <= known.keys() <= case.differs | BASE.differs, allocator
