"""Two documents of one call may not make one object: the last one would win unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import DOCUMENT, Cli

SERVER = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkHistoryServer
metadata:
  name: pi
spec:
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  eventLog: {dir: "s3a://logs/spark"}
"""


def named(name: str, account: str = "") -> str:
    """The valid document with another name, and with an account that it renders."""
    more = f"  serviceAccount: {{name: {account}}}\n" if account else ""
    return DOCUMENT.replace("name: pi", f"name: {name}") + more


@pytest.mark.parametrize("command", [["render"], ["render", "-o", "out"], ["validate"]])
def test_an_object_of_two_documents_is_refused(command: list[str], cli: Cli) -> None:
    """Both documents are named with their places, and nothing is written."""
    Path("server.yaml").write_text(SERVER)
    result = cli(command[0], "app.yaml", "server.yaml", *command[1:])
    assert result.code == 1
    said = result.out + result.err
    assert (
        "server.yaml:4:9: error[SG019] metadata.name: SparkHistoryServer pi renders ServiceAccount pi" in said
    )
    assert "and so does SparkApplication pi in app.yaml:4:9" in said
    assert not Path("out").exists()


def test_an_account_of_two_applications_is_one_applications(cli: Cli) -> None:
    """The next step is the field that says who renders it; then both are rendered."""
    Path("a.yaml").write_text(named("a", "spark"))
    Path("b.yaml").write_text(named("b", "spark"))
    result = cli("render", "a.yaml", "b.yaml")
    assert result.code == 1
    assert "SparkApplication b renders ServiceAccount spark" in result.err
    assert "set `serviceAccount.create: false` in one of the two" in result.err
    Path("b.yaml").write_text(named("b", "spark, create: false"))
    assert cli("render", "a.yaml", "b.yaml").code == 0


def test_the_same_in_two_namespaces_is_fine(cli: Cli) -> None:
    """Objects are of a namespace."""
    Path("server.yaml").write_text(SERVER.replace("name: pi", "name: pi\n  namespace: elsewhere"))
    assert cli("render", "app.yaml", "server.yaml").code == 0
    assert cli("validate", "app.yaml", "server.yaml").code == 0


def test_a_repository_has_no_such_object_in_an_environment(cli: Cli) -> None:
    """Files in folders of their own are applied to one namespace all the same."""
    for folder, text in (("one", DOCUMENT), ("two", SERVER)):
        Path("apps", folder).mkdir(parents=True)
        Path("apps", folder, "app.yaml").write_text(text)
    result = cli("render", "-R", "apps", "-o", "deploy")
    assert result.code == 1
    assert "error[SG019]" in result.err
    assert not Path("deploy").exists()
