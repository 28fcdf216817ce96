"""An environment of packages: the same files whoever installed them, and none that nobody named."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from sparkgen.delivery import environment, requirements
from sparkgen.delivery.in_place import in_place
from sparkgen.delivery.look import look
from sparkgen.delivery.requirements import Requirements
from sparkgen.local.errors import CannotRun
from sparkgen.local.spark import pip
from sparkgen.local.view import Plain

RECORD = """\
six.py,sha256=x,1
../../bin/six,sha256=y,1
bin/tool,sha256=z,1
__pycache__/six.cpython-310.pyc,,
six-1.dist-info/INSTALLER,sha256=a,4
six-1.dist-info/METADATA,sha256=b,4
six-1.dist-info/RECORD,,
"""


def installed(folder: Path, by: str, order: int) -> Path:
    """A package as an installer leaves it."""
    info = folder / "six-1.dist-info"
    info.mkdir(parents=True)
    (folder / "six.py").write_text("x")
    (folder / "bin").mkdir()
    (folder / "bin/tool").write_text(f"#!/home/{by}/python\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/six.cpython-310.pyc").write_text(by)
    (info / "INSTALLER").write_text(by)
    (info / "direct_url.json").write_text(f"file:///home/{by}")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Six\nVersion: 1\n\nText: x\n")
    lines = RECORD.splitlines(keepends=True)
    (info / "RECORD").write_text("".join(sorted(lines, reverse=bool(order))))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {file.inside: Path(file.place).read_bytes() for file in environment.files(folder)}


def test_what_tells_who_installed_it_is_removed(tmp_path: Path) -> None:
    """Two installers, two homes, two orders: the same files."""
    found = []
    for number, by in enumerate(("uv", "pip")):
        folder = installed(tmp_path / by, by, number)
        environment.strip(folder)
        found.append(contents(folder))
    assert found[0] == found[1]
    assert sorted(found[0]) == [
        "python/six-1.dist-info/METADATA", "python/six-1.dist-info/RECORD", "python/six.py"
    ]  # fmt: skip
    assert found[0]["python/six-1.dist-info/RECORD"] == (
        b"six-1.dist-info/METADATA,sha256=b,4\nsix-1.dist-info/RECORD,,\nsix.py,sha256=x,1\n"
    )


def test_a_link_in_a_package_is_refused(tmp_path: Path) -> None:
    """An archive has none, and what it leads to may be anything."""
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(CannotRun, match="is not a regular file"):
        environment.files(tmp_path)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            "Cannot install a and b==1 because these package versions have conflicting dependencies.",
            "are in conflict",
        ),
        (
            "No solution found: Because a==2 depends on b>=2 and you require b==1, ... unsatisfiable.",
            "are in conflict",
        ),
        ("No solution found: Because you require a==2 and a==1, ... unsatisfiable.", "are in conflict"),
        ("No solution found: Because there is no version of a==9, ... unsatisfiable.", "each version exists"),
        ("No solution found: Because a==3 has no usable wheels, ... unsatisfiable.", "each version exists"),
        ("Because a was not found in the package registry, ... unsatisfiable.", "each version exists"),
        ("No matching distribution found for a==9", "each version exists"),
        ("Connection refused", "check the network"),
    ],
)
def test_what_an_installer_says_is_answered(said: str, advice: str) -> None:
    """Words of pip 26 and uv 0.9, shortened: a conflict is no fault of the network, nor of wheels."""
    assert advice in environment.advice(said)


def test_passwords_of_addresses_are_hidden() -> None:
    """An installer may repeat an index's address."""
    said = environment.redacted("cannot reach https://me:word@pypi.example.com/simple")
    assert said == "cannot reach https://***@pypi.example.com/simple"


@pytest.fixture
def no_network(tmp_path: Path) -> dict[str, str]:
    """An installer on the PATH that does what its requirements say: a line `install:NAME` is a package."""
    program = tmp_path / "tools/uv"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, sys\n"
        "arguments = sys.argv[1:]\n"
        "target = pathlib.Path(arguments[arguments.index('--target') + 1])\n"
        "pathlib.Path(sys.argv[0]).with_name('calls').open('a').write(' '.join(arguments) + '\\n')\n"
        "text = pathlib.Path(arguments[-1]).read_text()\n"
        "if 'broken' in text:\n"
        "    print('No matching distribution at https://me:word@e.org'); sys.exit(1)\n"
        "for name in ('six', *(['extra'] if 'needy' in text else [])):\n"
        "    info = target / f'{name}-1.dist-info'\n"
        "    info.mkdir(parents=True)\n"
        "    (info / 'METADATA').write_text(f'Name: {name}\\nVersion: 1\\n')\n"
    )
    program.chmod(0o755)
    return {"PATH": str(program.parent), "SPARKGEN_CACHE": str(tmp_path / "cache")}


def build(text: str, variables: dict[str, str], python: str = "3.10") -> Path:
    """An environment with these requirements."""
    return environment.built(Requirements(text, python, "x86_64"), variables, Plain(sys.stderr))


def test_the_second_time_nothing_is_installed(no_network: dict[str, str]) -> None:
    """The cache goes by the requirements, the Python and the processor."""
    first = build("six==1\n", no_network)
    assert build("six==1\n", no_network) == first
    assert build("six==1\n", no_network, "3.11") != first
    calls = Path(no_network["PATH"], "calls").read_text().splitlines()
    assert len(calls) == 2
    assert "--python-version 3.10 --python-platform x86_64-manylinux_2_28 --only-binary :all:" in calls[0]


HIDDEN_OPTIONS = (
    "--only-binary :none:\nevil==1\n",
    "--only-binary=six,:none:\nevil==1\n",
    "--pre --no-binary evil\nevil==1\n",
    "--index-url https://index.example.com --no-binary=evil\nevil==1\n",
    "evil==1 --no-binary evil\n",
    "evil==1 ; python_version > '3' --no-binary evil\n",
    "evil[a --no-binary evil ]==1\n",
    "evil==1 --hash=--no-binary\n",
    "evil==1\\ \n--pre\n",
)


@pytest.mark.parametrize("text", HIDDEN_OPTIONS)
def test_no_option_hides_behind_another_one(text: str) -> None:
    """With `--no-binary` an installer runs the code of a package on the machine that pushes."""
    assert list(requirements.faults(text))


FORMS = (
    "six==1.16.0",
    "six[a, b-c]===1 ; python_version < '3.11' and platform_machine == 'x'",
    f"six==1 --hash=sha256:{'a' * 64} --hash=sha256:{'b' * 64}",
    f"six @ https://files.example.com/six-1-py3-none-any.whl#sha256={'a' * 64}",
    f"six @ https://files.example.com/six-1-py3-none-any.whl ; os_name == 'x' --hash=sha256:{'a' * 64}",
    "--index-url https://index.example.com/simple",
    "-i https://index.example.com",
    "--only-binary=:all:",
    "--only-binary six,idna",
    "--require-hashes",
)


@pytest.mark.parametrize("line", FORMS)
def test_what_tools_write_is_taken(line: str) -> None:
    """Each form of a line that names the same package tomorrow."""
    assert not list(requirements.faults(f"{line}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "# about six \\\nsix==1\n",
        "six==1 # why\nidna==2",
        "six==1 \\\n  --hash=sha256:aa # of it\n",
        "six==1\x0cidna==2\u2028attrs==3\rtyping==4",
    ],
)
def test_the_installer_gets_the_lines_that_were_checked(text: str) -> None:
    """Installers differ in what ends a line or a comment; here nothing is left to differ in."""
    checked = requirements.checked_text(text)
    assert [line.text for line in requirements.lines(text)] == checked.splitlines()
    assert not {"\\", "#", "\r", "\x0c", "\u2028"} & set(checked)
    assert not list(requirements.faults(checked))


def test_a_line_of_any_length_is_read_in_a_moment() -> None:
    """The reader is linear: no line of a stranger's file holds up a check."""
    for text in (
        f"six==1{' ' * 200_000}x",
        f"six @ https://{'.whl' * 50_000} x",
        f"six==1;{'-' * 200_000} -x",
        f"--only-binary {'a,' * 100_000}:",
    ):
        assert len(list(requirements.faults(text))) == 1


def test_a_package_that_nobody_named_is_refused(no_network: dict[str, str]) -> None:
    """With the line to add; nothing stays in the cache."""
    with pytest.raises(CannotRun, match=r"(?s)extra==1.*add these lines"):
        build("six==1\nneedy==1\n", no_network)
    assert not [one for one in Path(no_network["SPARKGEN_CACHE"], "python").iterdir() if one.is_dir()]


def test_the_installer_starts_nothing_of_the_folder_that_is_pushed(
    no_network: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither `uv.toml`, which may allow packages that run code, nor `.venv`, nor a `pip.py`."""
    program = Path(no_network["PATH"], "uv")
    told = "pathlib.Path(sys.argv[0]).with_name('in').write_text"
    with program.open("a") as file:
        file.write(f"{told}(f\"{{pathlib.Path.cwd()}} {{pathlib.Path('uv.toml').read_text()}}\")\n")
    monkeypatch.chdir(tmp_path)
    build("six==1\n", no_network)
    call = Path(no_network["PATH"], "calls").read_text()
    assert f"--python {sys.executable}" in call
    folder, settings = program.with_name("in").read_text().split(" ")
    assert Path(folder).is_relative_to(no_network["SPARKGEN_CACHE"])
    assert not settings
    (tmp_path / "pip.py").write_text("raise SystemExit('taken from the working directory')")
    said = subprocess.run([*pip(tmp_path, Plain(sys.stderr)), "--version"], capture_output=True, check=True)
    assert said.stdout.startswith(b"pip ")


def test_a_package_may_have_any_name(no_network: dict[str, str]) -> None:
    """Also that of the folder into which packages are installed first."""
    program = Path(no_network["PATH"], "uv")
    with program.open("a") as file:
        file.write("(target / 'packages').mkdir()\n(target / 'packages/a.py').write_text('x')\n")
    assert (build("six==1\n", no_network) / "packages/a.py").is_file()


@pytest.mark.parametrize(
    "name",
    [".work", ".lock", ".gitignore", "CACHEDIR.TAG", "six-1.dist-info/INSTALLER", "bin.dist-info/METADATA"],
)
def test_a_package_may_have_a_folder_of_any_name(no_network: dict[str, str], name: str) -> None:
    """Also of what installers write as a file, and of a folder in which sparkgen works."""
    with Path(no_network["PATH"], "uv").open("a") as file:
        file.write(f"(target / {name!r}).mkdir(parents=True)\n(target / {name!r} / 'a.py').write_text('x')\n")
    assert (build("six==1\n", no_network) / name / "a.py").read_text() == "x"


@pytest.mark.parametrize(
    ("record", "kept"),
    [
        (b"a" * 200_000 + b",,\n", None),
        (b"\xff,,\n", None),
        (b"a" * 5000 + b",,\n" + b"six\0.py,,\nsix.py,,\n", "six.py,,\n"),
    ],
    ids=["a long field", "bytes that are no text", "names that no file can have"],
)
def test_whatever_a_record_says(no_network: dict[str, str], record: bytes, kept: str | None) -> None:
    """A wheel's author writes it: what cannot be read is a sentence that names the package."""
    with Path(no_network["PATH"], "uv").open("a") as file:
        file.write(f"(info / 'RECORD').write_bytes({record!r})\n(target / 'six.py').write_text('x')\n")
    if kept is None:
        with pytest.raises(
            CannotRun, match=r"^the RECORD of six-1\.dist-info cannot be read .*: pin another"
        ):
            build("six==1\n", no_network)
    else:
        assert (build("six==1\n", no_network) / "six-1.dist-info/RECORD").read_text() == kept


def test_what_the_installer_says_comes_without_passwords(no_network: dict[str, str]) -> None:
    """And with what to do."""
    with pytest.raises(CannotRun) as raised:
        build("broken==1\n", no_network)
    assert "word" not in str(raised.value)
    assert "only wheels are installed" in str(raised.value)


def test_pip_does_not_judge_conditions_by_this_machine(tmp_path: Path) -> None:
    """Its markers are about the Python that runs it: another machine would install other packages."""
    variables = {"PATH": str(tmp_path), "SPARKGEN_CACHE": str(tmp_path / "cache")}
    with pytest.raises(CannotRun, match="install uv"):
        build('six==1 ; python_version < "3.11"\n', variables)


WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(folder: Path, name: str, *dependencies: str) -> None:
    """A wheel with one module."""
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as made:
        info = f"{name}-1.dist-info"
        needs = "".join(f"Requires-Dist: {text}\n" for text in dependencies)
        made.writestr(f"{name}.py", "x = 1\n")
        made.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{needs}")
        made.writestr(f"{info}/WHEEL", WHEEL)
        made.writestr(f"{info}/RECORD", "")


def source(folder: Path, name: str, proof: Path) -> None:
    """A package that runs code when it is built."""
    with tarfile.open(folder / f"{name}-1.tar.gz", "w:gz") as made:
        for file, text in (
            ("setup.py", f"open({str(proof)!r}, 'w').close()\nfrom setuptools import setup\nsetup()\n"),
            ("PKG-INFO", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"),
        ):
            data = text.encode()
            entry = tarfile.TarInfo(f"{name}-1/{file}")
            entry.size = len(data)
            made.addfile(entry, BytesIO(data))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which all of its files are an index's page of each package."""
    folder = tmp_path / "files"
    folder.mkdir()

    class Index(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith("/simple/"):
                return super().do_GET()
            links = "".join(f'<a href="/{one.name}">{one.name}</a>' for one in sorted(folder.iterdir()))
            page = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
            return None

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def without_uv(tmp_path: Path) -> dict[str, str]:
    """The variables of a user who has pip alone."""
    return {"PATH": str(tmp_path), "SPARKGEN_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*"}


def test_pip_installs_what_the_file_names(index: tuple[Path, str], tmp_path: Path) -> None:
    """From an index, with dependencies and extras."""
    folder, address = index
    wheel(folder, "one", "two>=1", "three ; extra == 'more'")
    wheel(folder, "two")
    wheel(folder, "three")
    text = f"--index-url {address}/simple\none[more]==1\ntwo==1\nthree==1\n"
    made = build(text, without_uv(tmp_path))
    assert sorted(file.name for file in made.glob("*.py")) == ["one.py", "three.py", "two.py"]


def test_pip_runs_no_code_of_a_package(index: tuple[Path, str], tmp_path: Path) -> None:
    """An index that the file names may say that a wheel depends on anything, and pip would build that."""
    folder, address = index
    proof = tmp_path / "ran"
    source(folder, "evil", proof)
    wheel(folder, "one", f"evil @ {address}/evil-1.tar.gz")
    text = f"--index-url {address}/simple\none==1\n"
    with pytest.raises(CannotRun, match=r"one-1-py3-none-any\.whl depends on a URL .* install uv"):
        build(text, without_uv(tmp_path))
    with pytest.raises(CannotRun, match="only wheels are installed"):
        build(f"--index-url {address}/simple\nevil==1\n", without_uv(tmp_path))
    assert not proof.exists()


def test_all_missing_dependencies_are_named_before_pip_looks_for_them(
    index: tuple[Path, str], tmp_path: Path
) -> None:
    """Only those that every machine needs: conditions are about other machines."""
    folder, address = index
    wheel(folder, "one", "Two.B>=1", "three", 'four ; sys_platform == "win32"')
    with pytest.raises(CannotRun, match=r"could change:\n  three\n  two-b\nadd these lines"):
        build(f"--index-url {address}/simple\none==1\n", without_uv(tmp_path))


@pytest.mark.parametrize("way", ["./METADATA", "PKG-INFO"])
def test_pip_runs_no_code_of_what_only_pip_reads(index: tuple[Path, str], tmp_path: Path, way: str) -> None:
    """Two files of a wheel that pip takes for its METADATA, or another one beside an empty one."""
    folder, address = index
    proof = tmp_path / "ran"
    source(folder, "evil", proof)
    with zipfile.ZipFile(folder / "one-1-py3-none-any.whl", "w") as made:
        said = "Metadata-Version: 2.1\nName: one\nVersion: 1\n"
        made.writestr("one.py", "")
        made.writestr("one-1.dist-info/METADATA", "" if way == "PKG-INFO" else said)
        made.writestr("one-1.dist-info/WHEEL", WHEEL)
        made.writestr("one-1.dist-info/RECORD", "")
        made.writestr(f"one-1.dist-info/{way}", f"{said}Requires-Dist: evil @ {address}/evil-1.tar.gz\n")
    with pytest.raises(CannotRun, match=r"hash|inconsistent|invalid"):
        build(f"--index-url {address}/simple\none==1\n", without_uv(tmp_path))
    assert not proof.exists()


def test_pip_takes_no_folder_for_a_version(tmp_path: Path) -> None:
    """What is also a path is one for pip, and a folder is built."""
    project = tmp_path / "evil"
    project.mkdir()
    ((_, found, _),) = requirements.faults(f"x==1/../../../../../../../..{project}")
    assert found == "has no exact version"


def test_a_downloaded_file_names_no_place_in_a_network() -> None:
    """What was read is installed, and not what an index says a moment later."""
    text = (
        f"--index-url https://e.org/simple\n--pre\none.x[a]==1 --hash=sha256:{'0' * 64}\n"
        f"two[b] @ https://e.org/w/two-1%2Bcpu-py3-none-any.whl#sha256={'0' * 64}\n"
        "three==3\n"
    )
    assert not [*requirements.faults(text)]
    wheels = {Path("/w/one_x-1-py3-none-any.whl"): "1a", Path("/w/two-1+cpu-py3-none-any.whl"): "2b"}
    assert requirements.downloaded_text(text, wheels).splitlines() == [
        "one.x[a] @ file:///w/one_x-1-py3-none-any.whl --hash=sha256:1a",
        "two[b] @ file:///w/two-1%2Bcpu-py3-none-any.whl --hash=sha256:2b",
        "three",
    ]


def test_a_run_on_this_machine_uses_files_in_place(tmp_path: Path) -> None:
    """Absolute paths for Spark, folders for Python, and nothing of the delivery."""
    for name in ("app/jobs/etl.py", "app/lib/a.py", "app/a.zip", "shared/x.csv", "app/env.tar.gz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".git").mkdir()
    value = {
        "kind": "SparkApplication",
        "spec": {
            "mainApplicationFile": "./jobs/etl.py",
            "deps": {
                "pyFiles": ["./lib", "./*.zip", "local:///opt/x.zip"],
                "files": ["../shared"],
                "archives": ["./env.tar.gz#env"],
            },
            "delivery": {"repository": "x/y"},
            "artifacts": [],
        },
    }
    found = in_place(value, look(value, tmp_path / "app"), tmp_path / "app")
    assert found.value["spec"] == {
        "mainApplicationFile": f"{tmp_path}/app/jobs/etl.py",
        "deps": {
            "pyFiles": [f"{tmp_path}/app/a.zip", "local:///opt/x.zip"],
            "files": [f"{tmp_path}/shared/x.csv"],
            "archives": [f"{tmp_path}/app/env.tar.gz#env"],
        },
    }
    assert found.python_path == (f"{tmp_path}/app/lib",)
