"""What the runtime image takes from its base, in folders that stand for the base and the image."""

from __future__ import annotations

import ast
import importlib.util
import ssl
import struct
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from release import contents
from sparkgen.image import context, pins

PROGRAM = contents._PROGRAM
assemble = contents._assemble()


def make_elf(*needed: str, search: str = "", machine: int = 62) -> bytes:
    """A library as a file: an ELF header, one segment with everything, and a dynamic section."""
    strings = b"\0"
    entries = []
    for tag, name in [*((1, name) for name in needed), *([(29, search)] if search else [])]:
        entries.append((tag, len(strings)))
        strings += name.encode() + b"\0"
    start = 64 + 2 * 56
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in [*entries, (5, 0x1000), (0, 0)])
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    load = struct.pack("<IIQQQQQQ", 1, 4, start, 0x1000, 0, len(strings), 0, 0)
    table = struct.pack("<IIQQQQQQ", 2, 4, start + len(strings), 0x2000, 0, len(dynamic), 0, 0)
    return header + load + table + strings + dynamic


def write(root: Path, files: dict[str, bytes | str]) -> None:
    """Write files; text is the target of a symbolic link."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)


@pytest.fixture
def copy(tmp_path: Path) -> Any:
    """A copy between two empty root file systems."""
    for name in ("base", "image"):
        (tmp_path / name).mkdir()
    return assemble.Copy(tmp_path / "base", tmp_path / "image")


@pytest.fixture
def base(copy: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base image with a Python, its library and two shared libraries, as Debian has them."""
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: "/usr/lib/python3.11")
    write(
        copy.base,
        {
            "usr/bin/python3": "python3.11",
            "usr/bin/python3.11": make_elf("libz.so.1"),
            "usr/bin/sh": make_elf("libz.so.1"),
            "lib": "usr/lib",
            "usr/lib/x86_64-linux-gnu/libz.so.1": "libz.so.1.2",
            "usr/lib/x86_64-linux-gnu/libz.so.1.2": make_elf("libdeep.so"),
            "usr/lib/x86_64-linux-gnu/libdeep.so": make_elf(machine=183),
            "usr/local/lib/libdeep.so": make_elf(),
            "usr/lib/x86_64-linux-gnu/libtk.so": make_elf(),
            "usr/lib/python3.11/json/__init__.py": b"'json'",
            "usr/lib/python3.11/json/__pycache__/__init__.cpython-311.pyc": b"old",
            "usr/lib/python3.11/test/big.py": b"'test'",
            "usr/lib/python3.11/site-packages/pip/__init__.py": b"'pip'",
            "usr/lib/python3.11/lib-dynload/_tkinter.cpython-311-x86_64-linux-gnu.so": make_elf("libtk.so"),
        },
    )
    return Path(copy.base)


def paths(root: Path) -> set[str]:
    """The files and links below a folder."""
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if not path.is_dir() or path.is_symlink()
    }


def test_it_reads_what_a_program_needs() -> None:
    """A real program, and one that was made for this test."""
    program = assemble.read_elf(Path(sys.executable).resolve().read_bytes())
    assert any(name.startswith("libc.") for name in program.needed)
    assert Path(program.interpreter).exists()
    made = assemble.read_elf(make_elf("liba.so", "libb.so", search="$ORIGIN/../lib:/opt", machine=183))
    assert made == assemble.Elf((2, 1, 183), "", ("liba.so", "libb.so"), ("$ORIGIN/../lib", "/opt"))
    assert assemble.read_elf(b"#!/bin/sh\n") is None


def test_python_comes_with_what_it_needs_alone(base: Path, copy: Any) -> None:
    """Not the shell, no module that the runtime never imports, and no library that only such a one needs."""
    assemble.add_python(copy)
    assemble.add_shared_libraries(copy)
    assert paths(copy.image) == {
        "usr/bin/python3",
        "usr/bin/python3.11",
        "lib",
        "usr/lib/x86_64-linux-gnu/libz.so.1",
        "usr/lib/x86_64-linux-gnu/libz.so.1.2",
        "usr/local/lib/libdeep.so",
        "usr/lib/python3.11/json/__init__.py",
    }


def test_a_library_that_the_base_lacks_ends_the_build(base: Path, copy: Any) -> None:
    """Otherwise the first pod would find out; so would it with a library of another architecture alone."""
    (base / "usr/local/lib/libdeep.so").unlink()
    assemble.add_python(copy)
    with pytest.raises(
        SystemExit, match=r"no libdeep\.so, which /usr/lib/x86_64-linux-gnu/libz\.so\.1\.2 needs"
    ):
        assemble.add_shared_libraries(copy)


def test_a_program_of_another_architecture_ends_the_build(base: Path, copy: Any) -> None:
    """A base whose modules are for another architecture than its Python."""
    write(base, {"usr/lib/python3.11/lib-dynload/_json.so": make_elf(machine=183)})
    assemble.add_python(copy)
    with pytest.raises(SystemExit, match="for another architecture than /usr/bin/python3"):
        assemble.add_shared_libraries(copy)


def test_a_base_without_python_ends_the_build(copy: Any) -> None:
    """With the path that is missing."""
    with pytest.raises(SystemExit, match=sys.executable):
        assemble.add_python(copy)


def test_links_are_followed_in_the_base_alone(copy: Any, tmp_path: Path) -> None:
    """An absolute link, one that leads up, one in a circle, and none that leads out of the base."""
    (tmp_path / "secret").write_text("secret")
    write(
        copy.base,
        {
            "a/file": b"file",
            "absolute": "/a/file",
            "b/up": "../../../../secret",
            "circle": "circle",
            "folder": "a",
        },
    )
    for path in ("/absolute", "/folder/file"):
        assert str(copy.add(path)) == "/a/file"
    assert copy.add("/b/up") is None
    assert copy.add("/circle") is None
    assert paths(copy.image) == {"absolute", "a/file", "folder"}


SINGLE: dict[str, bytes | str] = {
    "usr/share/ca-certificates/m/b.crt": b"B\n",
    "usr/share/ca-certificates/m/a.crt": b"A\n",
}
OPENSSL = ssl.get_default_verify_paths()


@pytest.mark.parametrize(
    ("files", "content"),
    [
        (SINGLE, b"A\nB\n"),
        ({**SINGLE, assemble.BUNDLE[1:]: b"all"}, b"all"),
        ({**SINGLE, OPENSSL.openssl_cafile[1:]: assemble.BUNDLE, assemble.BUNDLE[1:]: b"all"}, b"all"),
    ],
)
def test_openssl_finds_the_authorities(copy: Any, files: dict[str, bytes | str], content: bytes) -> None:
    """Also if the base only has single ones, because none of its programs has run, or lacks the link."""
    write(copy.base, files)
    assemble.add_certificates(copy)
    assert (copy.image / OPENSSL.openssl_cafile[1:]).readlink() == Path(assemble.BUNDLE)
    assert (copy.image / assemble.BUNDLE[1:]).read_bytes() == content


def test_scanners_find_the_packages_of_the_copied_files(copy: Any) -> None:
    """With /usr merged or not; the licenses come along, and the other packages are not listed."""
    status = "Package: {}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n\n"
    write(
        copy.base,
        {
            "usr/lib/liba.so": b"a",
            "usr/bin/tool": b"tool",
            "var/lib/dpkg/status": "".join(map(status.format, ("liba", "tool", "ca-certificates"))).encode(),
            "var/lib/dpkg/info/liba:amd64.list": b"/.\n/lib\n/lib/liba.so\n",
            "var/lib/dpkg/info/tool.list": b"/.\n/usr/bin/tool\n",
            "usr/share/doc/liba/copyright": b"free",
            "usr/share/doc/tool/copyright": b"free",
        },
    )
    copy.add("/usr/lib/liba.so")
    assemble.add_packages(copy)
    listed = (copy.image / "var/lib/dpkg/status").read_text()
    assert listed == "".join(map(status.format, ("liba", "ca-certificates")))
    assert paths(copy.image) >= {"usr/share/doc/liba/copyright"}
    assert "usr/share/doc/tool/copyright" not in paths(copy.image)


def test_all_of_it_has_one_time_and_is_compiled(
    base: Path, copy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program names its Python, because the image has no `env`; nobody writes to the image."""
    write(
        copy.image,
        {
            "opt/sparkgen-runtime/sparkgen-runtime": (PROGRAM.parent / "sparkgen-runtime").read_bytes(),
            "opt/sparkgen-runtime/python/own.py": b"'own'",
        },
    )
    assemble.main(base, copy.image)
    program = copy.image / "opt/sparkgen-runtime/sparkgen-runtime"
    assert program.read_text().startswith('#!/usr/bin/python3 -IB\n"""')
    link = copy.image / "usr/local/bin/sparkgen-runtime"
    assert link.readlink() == Path("/opt/sparkgen-runtime/sparkgen-runtime")
    compiled = {path.name.partition(".")[0] for path in copy.image.rglob("*.pyc")}
    assert compiled == {"__init__", "own"}
    times = {path.lstat().st_mtime for path in copy.image.rglob("*")}
    assert times == {PROGRAM.stat().st_mtime}
    assert (copy.image / "tmp").stat().st_mode & 0o7777 == 0o1777
    assert (copy.image / "etc/passwd").read_text().startswith("root:x:0:0:")


def _imports(path: Path) -> set[str]:
    """The top-level modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_nothing_that_the_runtime_imports_is_left_out() -> None:
    """Neither the runtime nor its libraries: the image would lack the module only where it is needed."""
    own = [context.PACKAGE / part for part in context.PARTS]
    found = [importlib.util.find_spec(pin.name) for pin in pins.LIBRARIES]
    libraries = [Path(folder) for spec in found if spec for folder in spec.submodule_search_locations or ()]
    assert len(libraries) == len(pins.LIBRARIES)
    files = [
        file for path in (*own, *libraries) for file in (path.rglob("*.py") if path.is_dir() else [path])
    ]
    names = set().union(*map(_imports, files)) & set(sys.stdlib_module_names)
    assert {"ssl", "json"} <= names
    left_out = {
        name
        for name in names
        for form in (name, f"{name}.py", f"{name}.so")
        if assemble.LEFT_OUT.fullmatch(form)
    }
    assert left_out == set()


@pytest.mark.parametrize(("python", "linked"), [("/usr/bin/python3", False), ("/opt/venv/bin/python3", True)])
def test_python_is_on_the_path(copy: Any, monkeypatch: pytest.MonkeyPatch, python: str, linked: bool) -> None:
    """Wherever the base has it: hooks of the chart call python3 by its name."""
    monkeypatch.setattr(sys, "executable", python)
    program = (PROGRAM.parent / "sparkgen-runtime").read_bytes()
    write(copy.image, {"opt/sparkgen-runtime/sparkgen-runtime": program, "usr/local/bin/.keep": b""})
    assemble.add_program(copy.image)
    assert (copy.image / "usr/local/bin/python3").is_symlink() == linked
