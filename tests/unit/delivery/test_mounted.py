"""Files as the ConfigMap that a pod mounts: keys, texts and modes, and what does not fit."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.delivery import mounted
from sparkgen.delivery.look import look
from sparkgen.delivery.values import Looked
from sparkgen.errors import SparkgenError

MANY = mounted.MAX_FILES


def looked(folder: Path, files: dict[str, bytes], /, **deps: Any) -> Looked:
    """The files of a document in a folder, which are written first."""
    (folder / ".git").mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return look({"spec": {"mainApplicationFile": "./job.py", "deps": deps}}, folder)


def contents(found: Looked) -> dict[str, Any]:
    """The contents of the only artifact."""
    assert not found.wrong
    [one] = found.contents
    return mounted.contents(one.files)


def test_a_reviewer_reads_texts_and_pods_get_paths(tmp_path: Path) -> None:
    """Each file has a key, at the path that it has in a pushed artifact."""
    files = {"job.py": b"print(1)\n", "lib/a.py": b"A = '\xc3\xa9'\n", "lib/run.sh": b"true\n", "x": b"\0\1"}
    looked(tmp_path, files)
    (tmp_path / "lib/run.sh").chmod(0o755)
    assert contents(looked(tmp_path, {}, pyFiles=["./lib"], files=["./x"])) == {
        "items": [
            {"key": "job.py", "path": "job.py"},
            {"key": "lib_a.py", "path": "lib/a.py"},
            {"key": "lib_run.sh", "path": "lib/run.sh", "mode": 0o755},
            {"key": "x", "path": "x"},
        ],
        "data": {"job.py": "print(1)\n", "lib_a.py": "A = 'é'\n", "lib_run.sh": "true\n"},
        "binaryData": {"x": "AAE="},
    }


@pytest.mark.parametrize("data", [b"\xff", b"\xef\xbb\xbfa", b"a\0", b"\x1b[0m", "a\u2028b".encode()])
def test_what_nobody_can_read_is_binary(data: bytes, tmp_path: Path) -> None:
    """Texts have no characters that a reviewer cannot see, or that readers of YAML take for line breaks."""
    found = contents(looked(tmp_path, {"job.py": data}))
    assert found["binaryData"] == {"job.py": base64.b64encode(data).decode()}
    assert "data" not in found


@pytest.mark.parametrize(
    ("paths", "keys"),
    [
        (["a/b", "a_b", "a b"], ["a_b", "a_b.2", "a_b.3"]),
        ([".hidden", "...", "é"], ["hidden", "_", "_.2"]),
        ([contract.TUNING_FILE, contract.EXECUTOR_TEMPLATE_FILE], ["tuning.json.2", "executor.json.2"]),
        (["x" * 300], ["x" * 200]),
    ],
)
def test_keys_are_valid_and_differ(paths: list[str], keys: list[str]) -> None:
    """No key is one by which sparkgen finds its own files."""
    assert mounted.keys(paths) == keys


@pytest.mark.parametrize(
    ("files", "deps", "message"),
    [
        (
            {"lib/a.bin": b"x" * mounted.MAX_BYTES},
            {"pyFiles": ["./lib"]},
            "have 900.0 KiB, more than the 900.0 KiB that fit into a ConfigMap; the largest is lib/a.bin",
        ),
        (
            {f"lib/{number}": b"" for number in range(MANY)},
            {"pyFiles": ["./lib"]},
            f"the artifact code has {MANY + 1} files, more than the {MANY} of a ConfigMap",
        ),
        (
            {"requirements.txt": b"six==1.17.0\n"},
            {"requirements": "./requirements.txt", "pythonVersion": "3.10"},
            "needs a registry: no ConfigMap has room for packages",
        ),
    ],
)
def test_what_does_not_fit(
    files: dict[str, bytes], deps: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """One problem, which names the registry and the image as ways out."""
    found = looked(tmp_path, {"job.py": b"1\n", **files}, **deps)
    [wrong] = mounted.unfit(found.contents, found.entries)
    assert (message in wrong.message, wrong.code) == (True, "SG309")
    assert "delivery.repository" in wrong.next_step
    assert "image" in wrong.next_step


def test_what_just_fits(tmp_path: Path) -> None:
    """The limits themselves are allowed."""
    files = {f"lib/{number}": b"" for number in range(MANY - 1)}
    found = looked(tmp_path, {"job.py": b"x" * mounted.MAX_BYTES, **files}, pyFiles=["./lib"])
    assert list(mounted.unfit(found.contents, found.entries)) == []


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    """It was checked for secrets before: another text is not taken."""
    found = looked(tmp_path, {"job.py": b"1\n"})
    (tmp_path / "job.py").write_bytes(b"2\n")
    with pytest.raises(SparkgenError, match=r"job.py changed while it was being packed: try again"):
        contents(found)
