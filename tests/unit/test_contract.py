"""The contract: its parts do not clash, its prose and its script say the same, and it needs nothing."""

from __future__ import annotations

import ast
import re
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from sparkgen import contract

PROSE = Path(__file__).parents[2] / "docs" / "design" / "contract.md"
SCRIPT = files("sparkgen").joinpath("templates", "run", "executor.sh").read_text("utf-8")


def constants(part: str) -> dict[str, object]:
    """The constants whose names begin (`ENV_`) or end (`_PORT`) so."""
    match = str.startswith if part.endswith("_") else str.endswith
    return {name: value for name, value in vars(contract).items() if match(name, part)}


@pytest.mark.parametrize(
    "kind", ["_PORT", "_VOLUME", "_DIR", "_FILE", "_CONTAINER", "ENV_", "LABEL_", "_PATH"]
)
def test_no_two_are_the_same(kind: str) -> None:
    """Two names for one port, volume, directory, file, variable or label would be a clash."""
    values = list(constants(kind).values())
    assert len(values) > 1
    assert len(set(values)) == len(values)


def test_the_allocator_can_import_it() -> None:
    """Only the standard library is imported: the runtime image has nothing else."""
    tree = ast.parse(Path(contract.__file__).read_text("utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_what_is_mounted_lies_under_the_reserved_root() -> None:
    """A document's mount clashes with none of ours, as long as it leaves the root alone."""
    outside = {"SCRATCH_DIR", "TOKEN_DIR", "HOME_DIR", "REGISTRY_DATA_DIR"}
    for name, path in constants("_DIR").items() - constants("ENV_").items():
        assert str(path).startswith(f"{contract.ROOT}/") is (name not in outside)


def test_volumes_have_the_reserved_prefix() -> None:
    """A document's volume clashes with none of ours, as long as it leaves the prefix alone."""
    assert all(str(value).startswith(contract.VOLUME_PREFIX) for value in constants("_VOLUME").values())


def test_the_tag_of_the_runtime_image_is_the_version() -> None:
    """The default image speaks this version of the contract."""
    assert contract.RUNTIME_IMAGE.endswith(f":{contract.VERSION}")


@pytest.mark.parametrize(
    "label",
    [
        "app.kubernetes.io/instance",
        "argocd.argoproj.io/instance",
        "kustomize.toolkit.fluxcd.io/namespace",
        "batch.kubernetes.io/controller-uid",
        "job-name",
        "kueue.x-k8s.io/queue-name",
    ],
)
def test_labels_that_claim_pods(label: str) -> None:
    """Labels of controllers stay off executors."""
    assert not contract.belongs_on_executor(label)


@pytest.mark.parametrize(
    "label", ["team", "app.kubernetes.io/instances", "job-name-of-mine", "x.argocd.argoproj.io/instance"]
)
def test_labels_that_only_look_like_it(label: str) -> None:
    """Whole keys and whole prefixes are meant."""
    assert contract.belongs_on_executor(label)


def test_the_script_reads_what_the_contract_names() -> None:
    """Every variable of executor.sh is the contract's, the stock image's, or its own."""
    used = set(re.findall(r"\$\{?!?((?:SPARK|HADOOP|JAVA|SPARKGEN)_[A-Z_]*[A-Z])", SCRIPT))
    of_the_image = {"SPARK_HOME", "JAVA_HOME", "SPARK_DIST_CLASSPATH", "SPARK_EXTRA_CLASSPATH"}
    its_own = {"SPARKGEN_START_TIMEOUT_SECONDS"}
    assert used - of_the_image - its_own <= set(constants("ENV_").values())
    assert f"{contract.ENV_JAVA_OPT_PREFIX}$index" in SCRIPT


def test_the_prose_names_what_the_code_names() -> None:
    """docs/design/contract.md mentions ports, directories of the driver's pod, and executors' variables."""
    prose = PROSE.read_text("utf-8")
    directories = {contract.CONF_DIR, contract.EXECUTOR_DIR, contract.TUNING_DIR}
    paths = {contract.SESSION_PROPERTIES, contract.SCHEDULER_JAR, contract.READY_PATH, contract.HEALTH_PATH}
    ports = {str(contract.SCHEDULER_PORT), str(contract.ALLOCATOR_PORT)}
    labels = {contract.LABEL_APP_ID, contract.LABEL_EXECUTOR_ID}
    for text in directories | paths | ports | labels | set(contract.ADDED_BY_ALLOCATOR):
        assert text in prose, text
    assert f"has the version **{contract.VERSION}**" in prose
