"""The demo: which examples it renders, and what it says about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import demo
from common.cachedir import ToolError
from demo import Rendered, Variant, next_steps, read_rendered, table, variants


def _examples(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return folder


def test_every_example_and_every_overlay_is_a_variant(tmp_path: Path) -> None:
    """A folder with an app.yaml counts; every other YAML file beside it, but a lock, is an overlay on it."""
    files = ("b/app.yaml", "b/app.lock.yaml", "b/prod.yaml", "b/README.md", "a/app.yaml", "c/notes.yaml")
    root = _examples(tmp_path, *files)
    assert variants(root) == [
        Variant("a", root / "a/app.yaml"),
        Variant("b", root / "b/app.yaml"),
        Variant("b-prod", root / "b/app.yaml", root / "b/prod.yaml"),
    ]
    assert variants(root)[2].inputs == [str(root / "b/app.yaml"), "-f", str(root / "b/prod.yaml")]


def test_no_example_at_all_is_an_error(tmp_path: Path) -> None:
    """A demo of nothing must not look like a success."""
    with pytest.raises(ToolError, match="there is no example"):
        variants(tmp_path)


def _rendered(folder: Path) -> Rendered:
    folder.mkdir(parents=True)
    (folder / "job-a.yaml").write_text("apiVersion: batch/v1\nkind: Job\nmetadata: {}\n")
    (folder / "configmap-a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  pod.yaml: |\n    kind: Pod\n"
    )
    (folder / "kustomization.yaml").write_text("kind: Kustomization\n")
    return read_rendered(Variant(folder.name, Path("examples") / folder.name / "app.yaml"), folder)


def test_objects_are_counted_as_a_cluster_would(tmp_path: Path) -> None:
    """Neither the kustomization nor an object inside a ConfigMap's text counts."""
    rendered = _rendered(tmp_path / "a")
    assert rendered.objects == 2
    assert rendered.driver == ("Job", tmp_path / "a/job-a.yaml")


def test_a_render_without_a_driver_is_an_error(tmp_path: Path) -> None:
    """An incomplete directory fails the demo."""
    with pytest.raises(ToolError, match="has no driver"):
        _ = read_rendered(Variant("a", Path("app.yaml")), tmp_path).driver


def test_the_table_is_one_aligned_line_per_variant(tmp_path: Path) -> None:
    """Name, kind, number of objects and directory, in columns."""
    rows = table([_rendered(tmp_path / "a"), _rendered(tmp_path / "longer")])
    assert rows == [
        f"  a       Job  2 objects  {tmp_path}/a/",
        f"  longer  Job  2 objects  {tmp_path}/longer/",
    ]


def test_the_next_steps_name_what_is_there(tmp_path: Path) -> None:
    """Paths are those of this render; an overlay is compared with its base."""
    base = _rendered(tmp_path / "a")
    overlay = _rendered(tmp_path / "a-prod")
    variant = Variant("a-prod", base.variant.document, Path("examples/a/prod.yaml"))
    commands = [line for _, line in next_steps("sparkgen", [base, Rendered(variant, overlay.directory, {})])]
    assert f"cat {tmp_path}/a/job-a.yaml" in commands
    assert f"diff -ru {tmp_path}/a {tmp_path}/a-prod" in commands


def _pretend_sparkgen(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_a_variant_is_validated_then_rendered(tmp_path: Path) -> None:
    """Only the two public commands are called, in this order, with the overlay as -f."""
    body = f'echo "$*" >> {tmp_path}/log; [ $1 = validate ] || mkdir -p {tmp_path}/out/a-prod'
    command = _pretend_sparkgen(tmp_path / "sparkgen", body)
    demo.render(command, Variant("a-prod", Path("app.yaml"), Path("prod.yaml")), tmp_path / "out")
    assert (tmp_path / "log").read_text().splitlines() == [
        "validate app.yaml -f prod.yaml",
        f"render app.yaml -f prod.yaml -o {tmp_path}/out/a-prod",
    ]


def test_many_variants_come_back_in_their_order(tmp_path: Path) -> None:
    """Rendering several at a time changes nothing of what is shown, and one failure fails the demo."""
    body = 'for last; do :; done; [ $1 = validate ] && { [ $2 != c/app.yaml ]; exit; }; mkdir -p "$last"'
    command = _pretend_sparkgen(tmp_path / "sparkgen", body)
    wanted = [Variant(name, Path(name, "app.yaml")) for name in "ba"]
    done = demo.render_all(command, wanted, tmp_path / "out")
    assert [each.variant.name for each in done] == ["b", "a"]
    with pytest.raises(ToolError, match=r"validate c/app\.yaml` failed \(1\)"):
        demo.render_all(command, [*wanted, Variant("c", Path("c/app.yaml"))], tmp_path / "out")


def test_an_invalid_example_is_told_with_its_problems(tmp_path: Path) -> None:
    """The demo fails with the command and what it said."""
    command = _pretend_sparkgen(tmp_path / "sparkgen", "echo 'app.yaml:3:1: SG010'; exit 1")
    with pytest.raises(ToolError, match=r"(?s)validate app\.yaml` failed \(1\):\napp\.yaml:3:1: SG010"):
        demo.render(command, Variant("a", Path("app.yaml")), tmp_path)


def _java(folder: Path) -> str:
    _pretend_sparkgen(folder / "java", "echo '  java.home = /j'; echo '  java.specification.version = 21'")
    return str(folder)


def test_an_application_runs_where_there_is_a_java(tmp_path: Path) -> None:
    """With the command that is shown; its exit code is the demo's."""
    command = _pretend_sparkgen(tmp_path / "sparkgen", f'echo "$*" > {tmp_path}/log; exit 7')
    assert demo.run_here(command, {"PATH": _java(tmp_path)}) == 7
    assert (tmp_path / "log").read_text().split() == list(demo.RUN_HERE)


def test_without_java_nothing_runs_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no failure on a laptop, and it is one in CI."""
    command = _pretend_sparkgen(tmp_path / "sparkgen", "exit 7")
    nothing = {"PATH": str(tmp_path / "empty")}
    assert demo.run_here(command, nothing) == 0
    said = capsys.readouterr().out
    assert "Cannot run an application on this machine: Spark needs Java 17 or 21" in said
    assert "run --local examples/local-demo/app.yaml" in said
    assert demo.run_here(command, {**nothing, demo.MUST_RUN: "1"}) == 1
