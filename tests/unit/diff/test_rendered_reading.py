"""Which files of a rendered directory are read, and which of them are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen import yamlvalue
from sparkgen.diff import rendered
from sparkgen.errors import SparkgenError
from sparkgen.image.runtime_files import RuntimeFiles
from sparkgen.usecases import runtime
from sparkgen.usecases.runtime import kept, not_made_here
from sparkgen.writers.manifest import header
from sparkgen.yamltext import dump

HEADER = header("1.0.0", "0" * 64)
EARLIER = RuntimeFiles("2.12", b"earlier", b"jar")
FILE = f"config-map-{EARLIER.name}.yaml"
TEXT = HEADER + dump(EARLIER.config_map("default"))
SLOW = {
    "a list": f"{HEADER}binaryData:\n  a: [{'a,' * 1000}]\n",
    "a mapping": f"{HEADER}a: 1\nbinaryData: {{{'a: 1,' * 1000}}}\n",
    "lines": f"{HEADER}a: 1\nbinaryData:\n" + "".join(f"  a{number}: 1\n" for number in range(1000)),
    "a block": f"{HEADER}a: 1\nbinaryData:\n{'- ' * 1000}a\n",
    "no header": f"a: 1\nbinaryData:\n  a: {'a ' * 1000}\n",
    "no data": f"{HEADER}a: {'a ' * 1000}\n",
    "too large": f"{TEXT}#{'a' * (2 << 20)}\n",
}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed."""
    texts: list[str] = []
    value_of = yamlvalue.value_of

    def counted(text: str) -> object:
        texts.append(text)
        return value_of(text)

    monkeypatch.setattr(yamlvalue, "value_of", counted)
    return texts


def test_a_runtime_is_found(tmp_path: Path) -> None:
    """Of any version, by its content."""
    (tmp_path / FILE).write_text(TEXT)
    assert rendered.read(tmp_path).manifests == {}
    assert kept(tmp_path, [EARLIER.name]) == {EARLIER.name: EARLIER}
    assert not_made_here(tmp_path.as_posix(), [EARLIER.name]) == []


def test_a_runtime_is_one_whatever_its_name(tmp_path: Path) -> None:
    """As for `diff --rendered`: what counts as a runtime there is told here, unless this version made it."""
    path = tmp_path / "zz-sparkgen-runtime-other.yaml"
    path.write_text(TEXT)
    assert rendered.read(tmp_path).runtimes == [path]
    [said] = not_made_here(tmp_path.as_posix(), [])
    assert said.startswith(f"{path.as_posix()}: this version of sparkgen has not made this runtime")
    assert not_made_here(tmp_path.as_posix(), [EARLIER.name]) == []
    path.write_text(TEXT.replace("binaryData:", "data:"))  # something else of such a name
    assert not_made_here(tmp_path.as_posix(), []) == []


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_a_text_that_is_no_runtime_is_not_parsed(text: str, tmp_path: Path, parsed: list[str]) -> None:
    """Somebody's commit may give it the name of one, and make it slow to parse."""
    (tmp_path / FILE).write_text(text)
    files = rendered.read(tmp_path).manifests
    if files:
        with pytest.raises(SparkgenError, match="not a valid manifest"):
            rendered.sides(files)
    assert kept(tmp_path, [EARLIER.name]) == {}
    assert len(not_made_here(tmp_path.as_posix(), [EARLIER.name])) == 1
    assert parsed == []


MANIFEST = f"""{HEADER}apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  labels: {{sparkgen.dev/application: pi}}
  name: pi
rules:
- verbs: [get,
# a comment
    list]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", '\ufeff#, "*"'),
        ("apiVersion: rbac.authorization.k8s.io/v1\n", ""),
        ("kind: Role", "kind: [Role]"),
        ("  name: pi", "  name: null"),
        ("name: pi", "name: pi\n  annotations: {day: 2001-12-14}"),
        ("rules:", "data: {tuning.json: [1]}\nrules:"),
        ("rules:", "data: [1]\nrules:"),
        ("list]", f"list, {'{a: ' * 900}1{'}' * 900}]"),
    ],
)
def test_a_manifest_that_programs_read_otherwise_is_refused(old: str, new: str) -> None:
    """Also one that is no object of Kubernetes; the message names the file."""
    rendered.sides({"deploy/role.yaml": MANIFEST})
    assert old in MANIFEST
    with pytest.raises(SparkgenError, match=r"^deploy/role\.yaml has sparkgen's header, but is not a valid"):
        rendered.sides({"deploy/role.yaml": MANIFEST.replace(old, new, 1)})


@pytest.mark.parametrize("target", ["file", "nothing", "loop"])
def test_a_link_is_not_followed(target: str, tmp_path: Path, parsed: list[str]) -> None:
    """It may lead to a large file of the machine, or to one that blocks its reader."""
    outside, directory = tmp_path / "file", tmp_path / "deploy"
    directory.mkdir()
    outside.write_text(TEXT)
    link = directory / FILE
    link.symlink_to(link if target == "loop" else tmp_path / target)
    (directory / "job.yaml").symlink_to(tmp_path / target)
    assert rendered.read(directory).manifests == {}
    assert kept(directory, [EARLIER.name]) == {}
    assert parsed == []


def test_few_files_with_the_name_of_a_runtime_are_read(tmp_path: Path, parsed: list[str]) -> None:
    """However many folders have one."""
    for number in range(40):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / FILE).write_text(TEXT.replace("immutable: true", "immutable: false"))
    assert kept(tmp_path, [EARLIER.name]) == {}
    assert len(parsed) == runtime._MOST_FILES
