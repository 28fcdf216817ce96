"""The values for JupyterHub's chart that its example makes of a rendered notebook."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.__main__ import run

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "jupyterhub"
Golden = Callable[[Path, str], None]


@pytest.fixture(scope="module")
def made() -> Callable[..., str]:
    """A function: what values.py prints for the example, with more arguments of `sparkgen render`."""

    def call(*arguments: str) -> str:
        stream, said = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(said):
            assert run(["render", str(EXAMPLE / "app.yaml"), "-n", "jupyter", *arguments]) == 0
        stream.seek(0)
        program = [sys.executable, str(EXAMPLE / "values.py")]
        return subprocess.run(program, input=stream.read(), capture_output=True, text=True, check=True).stdout

    return call


def test_the_values(made: Callable[..., str], golden: Golden) -> None:
    """They are as they were read, and tried with a Hub."""
    golden(HERE / "jupyterhub" / "singleuser.yaml", made())


def test_a_kernel_has_no_token_and_a_home(made: Callable[..., str]) -> None:
    """The allocator alone speaks to Kubernetes; JupyterLab writes to the home directory before it serves."""
    values = yaml.safe_load(made())
    person = values["singleuser"]
    mounted = {item["name"] for item in person["storage"]["extraVolumeMounts"]}
    assert "sparkgen-token" not in mounted
    assert mounted <= {item["name"] for item in person["storage"]["extraVolumes"]}
    assert person["extraPodConfig"] == {"automountServiceAccountToken": False}
    home = person["extraEnv"]["HOME"]
    assert home == person["storage"]["homeMountPath"] == values["hub"]["config"]["KubeSpawner"]["working_dir"]


@pytest.mark.parametrize(
    ("arguments", "image"),
    [
        ((), {"tag": "4.0.1"}),
        (("--set", "spec.imagePullPolicy=Always"), {"tag": "4.0.1", "pullPolicy": "Always"}),
        (("--set", "spec.imagePullSecrets={team}"), {"tag": "4.0.1", "pullSecrets": ["team"]}),
    ],
)
def test_how_the_image_is_pulled(
    made: Callable[..., str], arguments: tuple[str, ...], image: dict[str, Any]
) -> None:
    """As the document says it."""
    name = {"name": "registry.example.com/team/spark-jupyterhub"}
    assert yaml.safe_load(made(*arguments))["singleuser"]["image"] == {**name, **image}
