"""The same spark-submit command, by Spark's own backend and by sparkgen: what differs is in the table.

A file in `commands/` is a case: a comment with its title, and one `spark-submit` command.
`inputs/probe.py` and `inputs/Probe.java` print what driver and executors see.
To add a case, write its file, and run it: `make e2e-full TESTS="tests/e2e/differential -k NAME"`.
If it fails at a difference that is right, add a pattern to a row of `DIFFERENCES`, or a row.
A comment `# differs: ROW` names the rows that the case needs beyond those of `python.sh`.
A comment `# versions: 4` limits the case to the versions of Spark that begin so.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from cluster.images import TESTED_VERSIONS
from cluster.plan import API_SERVER
from differential import commands, reports, sides
from differential.ahead import Ahead
from differential.commands import Case
from differential.differences import BY_SPARKS_BACKEND, DIFFERENCES
from differential.reports import Differs
from differential.sides import Place, Side
from spark import spark_home

pytestmark = [pytest.mark.full, pytest.mark.own_cluster]
CASES = commands.read_all(Path(__file__).with_name("commands"))
COMPANIONS = Path(__file__).with_name("inputs") / "here"
"""What lies beside each command, in the folder that @HERE@ stands for."""
BASE = next(case for case in CASES if case.name == "python")
"""The case whose rows every other case may need."""
KEEP = "SPARKGEN_DIFFERENTIAL"
"""The variable that names a folder in which both reports of each case are kept."""
BY_SPARK = "SPARKGEN_DIFFERENTIAL_BY_SPARK"
"""The variable that asks for every case with `allocator: spark`; without it, a few cases have it."""
FEW = ("dynamic-allocation", "environment", "java")
"""One case of each kind that the two allocators might treat differently."""
Key = tuple[Case, str, str]
Both = tuple[Side, Side]


def parameters(allocator: str, cases: Iterable[Case] = CASES) -> Iterator[ParameterSet]:
    """Each case with each version that it is for."""
    for case in cases:
        for version in filter(case.is_for, TESTED_VERSIONS):
            yield pytest.param(case, version, allocator, id=f"{case.name}-{version}")


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest,
    place: Place,
    probe_images: dict[str, str],
    web_address: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Ahead[Key, Both]]:
    """The runs of the cases that are played, each with both sides."""
    values = {"API": API_SERVER, "NAMESPACE": place.namespace, "WEB": web_address}

    def both(key: Key, number: int) -> Both:
        case, version, _ = key
        folder = tmp_path_factory.mktemp(f"case-{number}")
        name = f"case-{number}-{case.name}"
        return run(
            key,
            place,
            {**values, "NAME": name, "IMAGE": probe_images[version], "VERSION": version, "HERE": str(folder)},
        )

    ahead = Ahead(both, list(played(request.session)))
    yield ahead
    ahead.close()


def played(session: pytest.Session) -> Iterator[Key]:
    """The cases of a session that are not skipped."""
    for item in session.items:
        if item.path == Path(__file__) and not item.get_closest_marker("skip"):
            parameters = item.callspec.params
            yield parameters["case"], parameters["version"], parameters["allocator"]


def run(key: Key, place: Place, values: dict[str, str]) -> Both:
    """Both sides of a case at the same time."""
    (case, version, allocator), folder = key, Path(values["HERE"])
    shutil.copytree(COMPANIONS, folder, dirs_exist_ok=True)
    script = folder / "submit.sh"
    script.write_text(commands.filled(case, values) + "\n")
    home, name = spark_home.ensure(version), values["NAME"]
    with ThreadPoolExecutor(2) as pool:
        native = pool.submit(partial(sides.native, place, home, script, name))
        imported = pool.submit(partial(sides.imported, place, script, name, allocator))
        made = native.result(), imported.result()
    keep(f"{case.name}-{version}-{allocator}", folder, made)
    return made


def keep(name: str, folder: Path, both: Both) -> None:
    """Keep what a case came to, where that is asked for."""
    if target := os.environ.get(KEEP):
        kept = Path(target) / name
        kept.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.is_file, folder.iterdir()):
            shutil.copy(path, kept / path.name)
        for word, side in zip(("native", "sparkgen"), both, strict=True):
            (kept / f"{word}.json").write_text(json.dumps(side.report, indent=1, sort_keys=True))
            (kept / f"{word}.names.json").write_text(json.dumps(side.names, indent=1))
            (kept / f"{word}.log").write_text(side.log)


def found(both: Both) -> list[Differs]:
    """What differs between two sides."""
    native, imported = (reports.normalised(side.report, side.names) for side in both)
    return [*reports.differences(*reports.comparable(native, imported))]


@pytest.mark.parametrize(
    ("case", "version", "allocator"),
    parameters("spark", [case for case in CASES if case.name in FEW or os.environ.get(BY_SPARK)]),
)
def test_with_sparks_own_backend_nothing_else_differs(
    case: Case, version: str, allocator: str, runs: Ahead[Key, Both]
) -> None:
    """Each difference is one of the table, or is about the properties that the backend itself reads."""
    _, unknown = reports.explained(
        found(runs.result((case, version, allocator))), (*DIFFERENCES, BY_SPARKS_BACKEND)
    )
    assert not unknown, "\n".join(map(str, unknown))


@pytest.mark.parametrize(("case", "version", "allocator"), parameters("sparkgen"))
def test_an_application_differs_as_the_table_says(
    case: Case, version: str, allocator: str, runs: Ahead[Key, Both]
) -> None:
    """Each difference has a row, and each row that the case names has a difference."""
    known, unknown = reports.explained(found(runs.result((case, version, allocator))), DIFFERENCES)
    assert not unknown, "\n".join(map(str, unknown))
    assert case.differs <= known.keys() <= case.differs | BASE.differs
