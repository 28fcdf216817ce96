"""What the driver starts with, and what survives a restart of the allocator."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from sparkgen.runtime.allocator.driver import properties, session
from sparkgen.runtime.allocator.driver.session import BadSession, DriverLocation, Session, SessionNotes
from sparkgen.runtime.allocator.values.settings import AllocationSettings

DYNAMIC = AllocationSettings(dynamic=True, minimum=1, initial=2, maximum=5)
DEFAULTS = "spark.authenticate true\nspark.executor.memory 2048m\n"


def begun(
    folder: Path, defaults: str = DEFAULTS, settings: AllocationSettings = DYNAMIC, ip: str = "10.1.2.3"
) -> Session:
    """A session in a folder; its random texts are different for each process."""
    numbers = count()
    return session.begin(
        DriverLocation(folder, "pi-1-abcde", ip),
        defaults,
        settings,
        lambda: f"random-{next(numbers)}-{id(numbers)}",
    )


def written(folder: Path) -> dict[str, str]:
    """What the driver would start with."""
    return properties.parse((folder / "spark.properties").read_text())


def test_what_is_added_to_the_rendered_properties(tmp_path: Path) -> None:
    """All that nobody knows before the pod runs, and what was reviewed."""
    made = begun(tmp_path)
    assert written(tmp_path) == {
        "spark.authenticate": "true",
        "spark.authenticate.secret": made.secret,
        "spark.executor.memory": "2048m",
        "spark.app.id": "pi-1-abcde",
        "spark.driver.host": "10.1.2.3",
        "spark.driver.bindAddress": "10.1.2.3",
        "spark.dynamicAllocation.minExecutors": "1",
        "spark.dynamicAllocation.initialExecutors": "2",
        "spark.dynamicAllocation.maxExecutors": "5",
        "spark.sparkgen.tokenFile": str(tmp_path / "token"),
        "spark.sparkgen.reviewed.spark.executor.memory": "2048m",
        "spark.sparkgen.reviewed.spark.dynamicAllocation.minExecutors": "1",
        "spark.sparkgen.reviewed.spark.dynamicAllocation.initialExecutors": "2",
        "spark.sparkgen.reviewed.spark.dynamicAllocation.maxExecutors": "5",
    }


def test_the_number_of_the_attempt(tmp_path: Path) -> None:
    """What the container `concurrency` has written is for the program."""
    (tmp_path / "attempt").write_text("8\n")
    begun(tmp_path)
    assert written(tmp_path)["spark.sparkgen.attempt"] == "8"


def test_a_number_of_executors(tmp_path: Path) -> None:
    """Static allocation has no bounds; an unbounded maximum is not said."""
    begun(tmp_path, settings=AllocationSettings(instances=3))
    assert written(tmp_path)["spark.executor.instances"] == "3"
    assert session.executor_bounds(replace(DYNAMIC, maximum=None)).keys() == {
        "spark.dynamicAllocation.minExecutors",
        "spark.dynamicAllocation.initialExecutors",
    }


def test_an_address_of_version_6(tmp_path: Path) -> None:
    """Spark wants brackets around a host (Utils.checkHost), and none around what a socket binds to."""
    begun(tmp_path, ip="fd00::7")
    found = written(tmp_path)
    assert (found["spark.driver.host"], found["spark.driver.bindAddress"]) == ("[fd00::7]", "fd00::7")


def test_without_authentication_there_is_no_secret(tmp_path: Path) -> None:
    """Nobody needs one."""
    assert begun(tmp_path, "spark.authenticate false\n").secret is None
    assert "spark.authenticate.secret" not in written(tmp_path)


def test_a_restart_finds_secret_token_and_ids(tmp_path: Path) -> None:
    """Running executors know the secret, and the running driver the token."""
    first = begun(tmp_path)
    first.note(7, "s1", 3)
    second = begun(tmp_path)
    assert (second.secret, second.token) == (first.secret, first.token)
    assert second.notes == SessionNotes(next_id=7, session="s1", first_id=3, drivers=1)


def test_the_next_driver_has_another_id(tmp_path: Path) -> None:
    """Once one has spoken, the file is for the next; a repeated word changes nothing."""
    made = begun(tmp_path)
    made.driver_started("pi-1-abcde", DYNAMIC)
    assert written(tmp_path)["spark.app.id"] == "pi-1-abcde-2"
    made.driver_started("pi-1-abcde", DYNAMIC)
    assert written(tmp_path)["spark.app.id"] == "pi-1-abcde-2"
    again = begun(tmp_path, settings=replace(DYNAMIC, maximum=9))
    assert (again.application_id, written(tmp_path)["spark.app.id"]) == ("pi-1-abcde-2", "pi-1-abcde-2")
    again.driver_started("pi-1-abcde-2", DYNAMIC)
    assert again.application_id == "pi-1-abcde-3"
    assert written(tmp_path)["spark.authenticate.secret"] == made.secret


def test_the_next_driver_starts_with_the_settings_as_they_are(tmp_path: Path) -> None:
    """A change that comes after a driver has spoken is the next one's, with the id that it will have."""
    made = begun(tmp_path)
    made.driver_started("pi-1-abcde", DYNAMIC)
    made.settings_changed(replace(DYNAMIC, maximum=40))
    found = written(tmp_path)
    assert found["spark.dynamicAllocation.maxExecutors"] == "40"
    assert found["spark.sparkgen.reviewed.spark.dynamicAllocation.maxExecutors"] == "40"
    assert found["spark.app.id"] == "pi-1-abcde-2"


def test_an_id_of_the_document(tmp_path: Path) -> None:
    """It is honoured, and counted for the next driver in the pod."""
    made = begun(tmp_path, "spark.app.id nightly\n")
    assert made.application_id == "nightly"
    made.driver_started("nightly", DYNAMIC)
    assert written(tmp_path)["spark.app.id"] == "nightly-2"


@pytest.mark.parametrize("asked", ["a b", "-a", "a" * 64, "a/b"])
def test_an_id_that_is_no_label(tmp_path: Path, asked: str) -> None:
    """The API server would refuse every executor."""
    with pytest.raises(BadSession, match="must be a valid label value"):
        begun(tmp_path, f"spark.app.id {asked}\n")


def test_files_are_for_the_group_alone(tmp_path: Path) -> None:
    """The driver may run as another user of the same group."""
    begun(tmp_path).note(2, "", 1)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    names = ("spark.properties", "launch.properties", "token", "allocator.json")
    assert modes == dict.fromkeys(names, 0o640)


def test_what_the_drivers_jvm_starts_with(tmp_path: Path) -> None:
    """Spark's launcher reads properties of the driver alone, and so no package is fetched twice."""
    begun(tmp_path, "spark.driver.memory 2g\nspark.jars.packages a:b:1\nspark.executor.memory 3g\n")
    found = properties.parse((tmp_path / "launch.properties").read_text())
    assert found["spark.driver.memory"] == "2g"
    assert found["spark.sparkgen.propertiesFile"] == str(tmp_path / "spark.properties")
    others = {"spark.master": "local", "spark.sparkgen.propertiesFile": str(tmp_path / "spark.properties")}
    assert {name: text for name, text in found.items() if not name.startswith("spark.driver.")} == others


@pytest.mark.parametrize("text", ["{", "[]", '{"nextId": "x"}'])
def test_notes_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    """Guessing could use a name twice: it stops, and says what helps."""
    (tmp_path / "allocator.json").write_text(text)
    with pytest.raises(BadSession, match="delete the driver's pod"):
        begun(tmp_path)


def test_a_volume_that_cannot_be_written(tmp_path: Path) -> None:
    """The message names the setting that helps."""
    with pytest.raises(BadSession, match="fsGroup"):
        begun(tmp_path / "missing")
