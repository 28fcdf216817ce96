"""Builds an environment with the packages of a requirements file, with the same files on every machine.

`uv` builds it if it is on the PATH, else pip: only from wheels, for the Python and processor of the image
and not for those of this machine. Files that depend on the time, place or user of the build are removed. The
environment is kept in the user's cache, under a name derived from all its inputs.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from email.parser import HeaderParser
from hashlib import file_digest
from pathlib import Path

from sparkgen.delivery import requirements as packages
from sparkgen.delivery.requirements import Requirements
from sparkgen.delivery.source import FORMAT
from sparkgen.delivery.values import PYTHON, LocalFile
from sparkgen.local import launch
from sparkgen.local.cache import cache_root, key, publish
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress, megabytes, run
from sparkgen.local.spark import pip

GLIBC = range(28, 16, -1)
"""Minor versions of glibc 2 whose wheels run on the stock images of Spark, the newest first."""
_PERSONAL = ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
"""Files of a *.dist-info that record how a package was installed."""
_MARKER = re.compile(r";\s*\S")
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
MOST_METADATA = 16 << 20
"""Bytes of a package's description that are read."""


def built(wanted: Requirements, environment: Mapping[str, str], progress: Progress) -> Path:
    """Returns the folder with the packages. Raises CannotRun, with the installer's message, if it fails.

    It is not built again if the cache has it. The `platform` "" is that of this machine.
    """
    name = key(str(FORMAT), wanted.text, wanted.python, wanted.platform)
    target = cache_root(environment) / "python" / name
    return publish(
        target,
        lambda folder: _build(wanted, folder, environment, progress),
        lambda: progress.say("waiting for packages, which another process is installing"),
    )


def files(folder: Path) -> list[LocalFile]:
    """Returns the files of an environment as a part of an artifact, sorted by their paths there."""
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = Path(place, name)
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise CannotRun(f"{path} is not a regular file: packages with links cannot be delivered")
            inside = f"{PYTHON}{path.relative_to(folder).as_posix()}"
            executable = bool(status.st_mode & stat.S_IXUSR)
            found.append(LocalFile(inside, str(path), status.st_size, executable, ""))
    return sorted(found, key=lambda file: file.inside.encode())


def of_this_machine(wanted: Requirements, environment: Mapping[str, str]) -> Requirements:
    """Returns the packages for the Python of applications on this machine. CannotRun if that does not run."""
    command = [launch.python(environment), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRun(
            f"cannot run {command[0]}, the Python that applications use on this machine: {error}"
        ) from None
    return replace(wanted, python=said.strip(), platform="")


def _build(wanted: Requirements, folder: Path, environment: Mapping[str, str], progress: Progress) -> None:
    work = Path(tempfile.mkdtemp(prefix=".work-", dir=folder))  # no package knows this name
    target = work / "packages"
    file = work / "requirements.txt"
    file.write_text(packages.checked_text(wanted.text), encoding="utf-8", newline="\n")
    # uv reads settings from the nearest folder with this file. So it does not read those of a repository,
    # which could allow packages that run code when they are installed.
    (work / "uv.toml").touch()
    uv = shutil.which("uv", path=environment.get("PATH"))
    steps = [_uv(uv, wanted, file, target)] if uv else _pip(wanted, file, target, work, progress)
    where = (
        f"Python {wanted.python} on {wanted.platform}" if wanted.platform else f"Python {wanted.python} here"
    )
    for command in steps:
        try:
            run(
                progress,
                f"installing packages for {where} (once)",
                command,
                environment={**environment, "PIP_NO_INPUT": "1"},
                folder=work,
                detail=lambda: f"{megabytes(target):.0f} MB",
            )
        except CannotRun as error:
            raise CannotRun(f"{redacted(str(error))}\n{advice(str(error))}") from None
    target.mkdir(exist_ok=True)
    _all_named(target, wanted)
    strip(target)
    for path in sorted(target.iterdir()):
        path.rename(folder / path.name)
    shutil.rmtree(work)


def _uv(uv: str, wanted: Requirements, file: Path, target: Path) -> list[str]:
    platform = ["--python-platform", f"{wanted.platform}-manylinux_2_{GLIBC[0]}"] if wanted.platform else []
    return [
        *(uv, "pip", "install", "--quiet", "--no-progress", "--target", str(target)),
        *("--python", sys.executable),  # else uv starts the Python of a .venv that it finds
        *("--python-version", wanted.python, *platform),
        *("--only-binary", ":all:", "--link-mode", "copy", "--no-compile-bytecode", "-r", str(file)),
    ]


def _pip(
    wanted: Requirements, file: Path, target: Path, work: Path, progress: Progress
) -> Iterator[list[str]]:
    """Yields the commands: download the wheels, then install them, each by its hash.

    pip builds what a wheel depends on by URL, which runs code of it, whatever `--only-binary` says. With
    `--require-hashes`, it refuses all that has no hash before it builds anything.
    """
    if any(_MARKER.search(line.text) for line in packages.lines(wanted.text)):
        raise CannotRun(
            "the requirements have conditions (after `;`), which pip evaluates for the Python of this "
            "machine: install uv (pip install uv), and build again"
        )
    tags = [f"manylinux_2_{minor}_{wanted.platform}" for minor in GLIBC]
    tags += [f"manylinux2014_{wanted.platform}", "any"]
    platform = [word for tag in tags for word in ("--platform", tag)] if wanted.platform else []
    program = pip(work, progress)
    common = [
        *("--quiet", "--disable-pip-version-check", "--only-binary=:all:"),
        *("--python-version", wanted.python, "--implementation", "cp", *platform),
    ]
    wheels = work / "wheels"
    yield [*program, "download", "--no-deps", "--dest", str(wheels), *common, "-r", str(file)]
    _check_dependencies(wheels, packages.names(wanted.text))
    local = work / "downloaded.txt"
    digests = {wheel: _sha256(wheel) for wheel in sorted(wheels.glob("*.whl"))}
    local.write_text(packages.downloaded_text(wanted.text, digests), encoding="utf-8", newline="\n")
    yield [
        *(*program, "install", "--no-index", "--require-hashes", "--no-compile"),
        *("--target", str(target), *common, "-r", str(local)),
    ]


def _sha256(wheel: Path) -> str:
    with wheel.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _check_dependencies(wheels: Path, named: frozenset[str]) -> None:
    """Raises CannotRun if a wheel depends on a URL, or without a condition on a package that is not named."""
    missing: set[str] = set()
    for wheel in sorted(wheels.glob("*.whl")):
        for text in _dependencies(wheel):
            requirement, _, condition = text.partition(";")
            if "@" in requirement:
                raise CannotRun(
                    f"{wheel.name} depends on a URL ({redacted(text)}), and pip may run the code behind it: "
                    "install uv (pip install uv), or remove the package from the requirements"
                )
            name = re.match(r"\s*([A-Za-z0-9._-]+)", requirement)
            if name and not condition.strip() and packages.normalised(name[1]) not in named:
                missing.add(packages.normalised(name[1]))
    if missing:
        raise _missing(sorted(missing))


def _dependencies(wheel: Path) -> list[str]:
    """Returns what a wheel depends on. Raises CannotRun if it is none."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            [metadata] = [name for name in opened.namelist() if _METADATA.fullmatch(name)]
            if opened.getinfo(metadata).file_size > MOST_METADATA:
                raise ValueError("its METADATA is too large")
            found = HeaderParser().parsestr(opened.read(metadata).decode(errors="replace"))
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise CannotRun(f"{wheel.name} is not a wheel that can be read ({error}): choose another") from None
    return [str(text) for text in found.get_all("Requires-Dist", [])]


def _missing(unnamed: Sequence[str]) -> CannotRun:
    lines = "\n".join(f"  {one}" for one in unnamed)
    return CannotRun(
        "dependencies are missing in the requirements, so their versions could change:\n"
        f"{lines}\nadd these lines, or {packages.LOCK_STEP}"
    )


def _all_named(target: Path, wanted: Requirements) -> None:
    """Raises CannotRun if a package was installed that the file does not name: its version could change."""
    named = packages.names(wanted.text)
    unnamed = [
        f"{name}=={version}" for name, version in installed(target) if packages.normalised(name) not in named
    ]
    if unnamed:
        raise _missing(sorted(unnamed, key=str.lower))


def installed(target: Path) -> Iterator[tuple[str, str]]:
    """Yields names and versions of the packages in a folder."""
    for metadata in filter(Path.is_file, sorted(target.glob("*.dist-info/METADATA"))):
        found = HeaderParser().parsestr(metadata.read_text(encoding="utf-8", errors="replace"))
        yield str(found["Name"]), str(found["Version"])


def strip(target: Path) -> None:
    """Remove the files and lines that differ between two builds of the same packages.

    Programs in `bin` name the Python of this machine, and no pod has them on its PATH.
    """
    shutil.rmtree(target / "bin", ignore_errors=True)
    for cache in [*target.rglob("__pycache__")]:
        shutil.rmtree(cache, ignore_errors=True)
    folders = sorted(target.glob("*.dist-info"))
    own = [target / name for name in (".lock", ".gitignore", "CACHEDIR.TAG")]
    for file in [*own, *(folder / name for folder in folders for name in _PERSONAL)]:
        if file.is_file():  # a package may have a folder of this name
            file.unlink()
    for record in (folder / "RECORD" for folder in folders):
        if record.is_file():
            record.write_text(_stripped(record, target), encoding="utf-8", newline="\n")


def _stripped(record: Path, target: Path) -> str:
    try:
        text = record.read_text(encoding="utf-8")
        # Unlike `Path.is_file`, this raises nothing for a name that no file can have.
        return record_text(text, lambda path: os.path.isfile(f"{target}/{path}"))  # noqa: PTH113
    except (csv.Error, UnicodeDecodeError) as error:
        raise CannotRun(
            f"the RECORD of {record.parent.name} cannot be read ({error}): pin another version of the package"
        ) from None


def record_text(text: str, there: Callable[[str], bool]) -> str:
    """Returns a RECORD, sorted, with only the files that exist (`there`) inside the folder."""
    rows = [
        row
        for row in csv.reader(io.StringIO(text))
        if row and not row[0].startswith(("../", "/")) and there(row[0])
    ]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(sorted(rows))
    return out.getvalue()


def redacted(text: str) -> str:
    """Returns an installer's message without the passwords of addresses."""
    return re.sub(r"://[^/\s]+@", "://***@", text)


def _conflicts(low: str) -> bool:
    """Whether an installer's message, in lower case, means that packages need different versions of one."""
    if "conflicting dependencies" in low:
        return True
    others = ("wheels", "no version of", "not found in")
    return "unsatisfiable" in low and not any(words in low for words in others)


def advice(said: str) -> str:
    """Returns the next step for the message of an installer that failed."""
    low = said.lower()
    if "no space left" in low:
        return "free some space, or set SPARKGEN_CACHE to a folder on another disk"
    if ("hash" in low and "mismatch" in low) or "do not match the hashes" in low:
        return (
            "the downloaded packages differ from the requirements: check the index settings (pip config list)"
        )
    if "--require-hashes" in low:
        return f"a package depends on one that the requirements do not name: add it, or {packages.LOCK_STEP}"
    if _conflicts(low):
        return (
            "versions that the requirements pin are in conflict: change one of them, or let a tool choose "
            f"them: {packages.LOCK_STEP}"
        )
    if any(
        words in low for words in ("no matching distribution", "no solution", "no wheels", "unsatisfiable")
    ):
        return (
            "only wheels are installed: check that each version exists, and has a wheel for this Python and "
            "processor (deps.pythonVersion, deps.pythonPlatform), or add the package to the image"
        )
    return "check the network and the index settings (pip config list, UV_INDEX_URL), and try again"
