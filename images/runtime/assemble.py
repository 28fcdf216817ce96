"""Makes the root file system of the runtime image: Python, and of its base image only what Python needs.

    python3 assemble.py BASE IMAGE

BASE is the folder with the base image for the architecture of the new image, whose programs may not run here.
So this program runs in the base image for the build machine's architecture, which has the same paths.
IMAGE is the folder to fill; it has the runtime in opt/sparkgen-runtime.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import ssl
import struct
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

OLDEST_PYTHON = (3, 11)
LEFT_OUT = re.compile(
    r"__pycache__|config-3.*|(dist|site)-packages|curses|dbm|ensurepip|idlelib|lib2to3|pydoc_data|sqlite3|test"
    r"|tkinter|turtle\.py|turtledemo|venv"
    r"|(_curses|_curses_panel|_dbm|_gdbm|_sqlite3|_test\w*|_ctypes_test|_tkinter|_xx\w+|nis|readline|xx\w+)\..*"
)
"""Files and folders of Python's library that the runtime never imports; some need large shared libraries."""
LIBRARY_FOLDERS = ("/usr/local/lib", "/lib", "/usr/lib", "/lib64", "/usr/lib64")
LOADED_LATER = ("libgcc_s.so.1",)
"""Libraries that the C library loads by name, when a thread ends."""
KEPT = ("/etc/ld.so.cache", "/etc/ld-musl-*.path", "/etc/crypto-policies")
"""What the dynamic linker and OpenSSL read, where the base has it."""
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
"""The file with all authorities; where the base has none, it is made of the single ones."""
MOST_LINKS = 40
USERS = {
    "etc/passwd": "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
STATUS = "var/lib/dpkg/status"


@dataclass(frozen=True, slots=True)
class Elf:
    """What the dynamic linker reads of a program or library.

    `machine`: word size, byte order and architecture; `search`: the folders where it looks first.
    """

    machine: tuple[int, int, int]
    interpreter: str
    needed: tuple[str, ...]
    search: tuple[str, ...]


def read_elf(data: bytes) -> Elf | None:
    """What a program or library needs, None for other files (https://man7.org/linux/man-pages/man5/elf.5.html)."""
    if data[:4] != b"\x7fELF":
        return None
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (architecture,) = struct.unpack_from(f"{order}H", data, 18)
    segments = list(_segments(data, wide, order))
    entries: dict[int, list[int]] = {}
    for segment in segments:
        if segment.kind == 2:  # PT_DYNAMIC
            for tag, value in struct.iter_unpack(
                f"{order}qQ" if wide else f"{order}iI", segment.content(data)
            ):
                entries.setdefault(tag, []).append(value)

    def strings(tag: int) -> list[str]:
        if tag not in entries:
            return []
        (address,) = entries[5]  # DT_STRTAB
        (table,) = (one.offset + address - one.address for one in segments if one.loads(address))
        starts = [table + value for value in entries[tag]]
        return [data[start : data.index(b"\0", start)].decode() for start in starts]

    interpreter = [one.content(data).rstrip(b"\0").decode() for one in segments if one.kind == 3]  # PT_INTERP
    search = strings(29) or strings(15)  # DT_RUNPATH, DT_RPATH
    return Elf(
        (data[4], data[5], architecture),
        "".join(interpreter),
        tuple(strings(1)),  # DT_NEEDED
        tuple(folder for value in search for folder in value.split(":")),
    )


@dataclass(frozen=True, slots=True)
class _Segment:
    """A program header: what part of the file is loaded at which address."""

    kind: int
    offset: int
    address: int
    size: int

    def content(self, data: bytes) -> bytes:
        """Its part of the file."""
        return data[self.offset : self.offset + self.size]

    def loads(self, address: int) -> bool:
        """Whether this part is loaded at the address."""
        return self.kind == 1 and self.address <= address < self.address + self.size


def _segments(data: bytes, wide: bool, order: str) -> Iterator[_Segment]:
    (table,) = struct.unpack_from(f"{order}Q" if wide else f"{order}I", data, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", data, 54 if wide else 42)
    for start in range(table, table + size * count, size):
        if wide:
            kind, _, offset, address, _, length = struct.unpack_from(f"{order}IIQQQQ", data, start)
        else:
            kind, offset, address, _, length = struct.unpack_from(f"{order}IIIII", data, start)
        yield _Segment(kind, offset, address, length)


class Copy:
    """Copies paths from one root file system to another, with every symbolic link on the way."""

    def __init__(self, base: Path, image: Path) -> None:
        self.base, self.image = base, image
        self.files: set[PurePosixPath] = set()
        """The paths of the copied files, without links."""
        self.links: set[PurePosixPath] = set()
        """The paths of the copied symbolic links."""

    def steps(self, path: str) -> list[PurePosixPath]:
        """The folders, links and the file on the way to a path, each without links; [] if it is missing."""
        parts, here, found, links = path.split("/")[::-1], PurePosixPath("/"), [], 0
        while parts:
            part = parts.pop()
            if part in ("", "."):
                continue
            here = here.parent if part == ".." else here / part
            source = self.within(self.base, here)
            if not source.is_symlink() and not source.exists():
                return []
            found.append(here)
            if source.is_symlink():
                links += 1
                if links > MOST_LINKS:
                    return []
                goal = str(source.readlink())
                here = PurePosixPath("/") if goal.startswith("/") else here.parent
                parts += goal.split("/")[::-1]
        return [*found, here]

    def add(self, path: str) -> PurePosixPath | None:
        """Copy a file, or a folder with all below it. Returns its path without links, or None if missing."""
        steps = self.steps(path)
        for step in steps:
            source, made = self.within(self.base, step), self.within(self.image, step)
            if source.is_symlink():
                if not made.is_symlink():
                    made.symlink_to(source.readlink())
                self.links.add(step)
            elif source.is_dir():
                made.mkdir(exist_ok=True)
            elif source.is_file():
                shutil.copyfile(source, made)
                made.chmod(0o755 if source.stat().st_mode & 0o111 else 0o644)
                self.files.add(step)
        if not steps:
            return None
        if self.within(self.base, steps[-1]).is_dir():
            for path_below in sorted(self.within(self.base, steps[-1]).iterdir()):
                self.add(f"{steps[-1]}/{path_below.name}")
        return steps[-1]

    @staticmethod
    def within(root: Path, path: PurePosixPath) -> Path:
        """A path of a root file system as a path of this one."""
        return root / path.relative_to("/")


def add_python(copy: Copy) -> None:
    """Copy the program and its standard library, in the places that Python itself names."""
    for path in (sys.executable, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")):
        if not copy.steps(path):
            sys.exit(f"the base image for the architecture of the new image has no {path}")
    copy.add(sys.executable)
    for folder in sorted({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}):
        _add_library(copy, folder)


def _add_library(copy: Copy, folder: str) -> None:
    for source in sorted(copy.within(copy.base, copy.steps(folder)[-1]).iterdir()):
        path = f"{folder}/{source.name}"
        if LEFT_OUT.fullmatch(source.name):
            continue
        if source.is_dir() and not source.is_symlink():
            _add_library(copy, path)
        else:
            copy.add(path)


def add_shared_libraries(copy: Copy) -> None:
    """Copy what the copied programs and libraries need. Exits with a message if the base image lacks it."""
    read: set[PurePosixPath] = set()
    machine = read_elf(Path(copy.within(copy.image, copy.steps(sys.executable)[-1])).read_bytes())
    if machine is None:
        sys.exit(f"{sys.executable} of the base image is no program")
    while unread := copy.files - read:
        for path in sorted(unread):
            read.add(path)
            elf = read_elf(copy.within(copy.image, path).read_bytes())
            if elf is None:
                continue
            if elf.machine != machine.machine:
                sys.exit(f"{path} of the base image is for another architecture than {sys.executable}")
            if elf.interpreter:
                copy.add(elf.interpreter)
            for name in elf.needed:
                if not _add_shared_library(copy, name, path, elf):
                    sys.exit(f"the base image has no {name}, which {path} needs")
            for name in LOADED_LATER:
                _add_shared_library(copy, name, path, elf)


def _add_shared_library(copy: Copy, name: str, user: PurePosixPath, elf: Elf) -> bool:
    """Copy a library from the first folder that has it for the architecture; False if there is none."""
    own = [re.sub(r"\$ORIGIN|\$\{ORIGIN\}", str(user.parent), folder) for folder in elf.search]
    for folder in (*own, *_library_folders(copy.base)):
        steps = copy.steps(f"{folder}/{name}")
        if not steps:
            continue
        found = read_elf(copy.within(copy.base, steps[-1]).read_bytes())
        if found is not None and found.machine == elf.machine:
            copy.add(f"{folder}/{name}")
            return True
    return False


def _library_folders(base: Path) -> Iterator[str]:
    """Where the dynamic linker looks: in the folders of /etc/ld.so.conf, and in those of the system."""
    for path in [*sorted(base.glob("etc/ld.so.conf.d/*.conf")), base / "etc/ld.so.conf"]:
        if path.is_file():
            yield from re.findall(r"^/\S+", path.read_text(), re.MULTILINE)
    for folder in LIBRARY_FOLDERS:
        yield folder
        yield from sorted(f"{folder}/{path.name}" for path in (base / folder[1:]).glob("*-linux-*"))


def add_certificates(copy: Copy) -> None:
    """Copy OpenSSL's settings and authorities; without a bundle of these, make it of the certificates."""
    paths = ssl.get_default_verify_paths()
    copy.add(paths.openssl_capath)
    copy.add(str(PurePosixPath(paths.openssl_cafile).with_name("openssl.cnf")))
    if copy.add(paths.openssl_cafile) is None:
        bundle = copy.image / BUNDLE[1:]
        if copy.add(BUNDLE) is None:
            single = sorted((copy.base / "usr/share/ca-certificates").rglob("*.crt"))
            bundle.parent.mkdir(parents=True, exist_ok=True)
            bundle.write_bytes(b"".join(path.read_bytes() for path in single))
        link = copy.image / paths.openssl_cafile[1:]
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(BUNDLE)


def add_system_files(copy: Copy) -> None:
    """Add the files of /etc that libraries read, and the folders that containers mount something on."""
    for pattern in KEPT:
        for path in sorted(copy.base.glob(pattern[1:])):
            copy.add(f"/{path.relative_to(copy.base)}")
    for name in ("dev", "etc", "proc", "run", "sys", "tmp", "usr/local/bin"):
        (copy.image / name).mkdir(parents=True, exist_ok=True)
    (copy.image / "tmp").chmod(0o1777)
    for name, text in USERS.items():
        (copy.image / name).write_text(text)


def add_packages(copy: Copy) -> None:
    """List Debian's packages of which there are files, where scanners look, and copy their licenses."""
    if not (copy.base / STATUS).is_file():
        return
    copied = {_without_usr(str(path)) for path in copy.files | copy.links}
    kept = []
    for paragraph in (copy.base / STATUS).read_text().strip().split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", paragraph, re.MULTILINE))
        if "Package" not in fields:
            continue
        name, qualified = fields["Package"], f"{fields['Package']}:{fields['Architecture']}"
        lists = [copy.base / "var/lib/dpkg/info" / f"{one}.list" for one in (name, qualified)]
        files = {
            _without_usr(line) for path in lists if path.is_file() for line in path.read_text().split("\n")
        }
        if name == "ca-certificates" or files & copied:
            kept.append(f"{paragraph}\n\n")
            copy.add(f"/usr/share/doc/{name}/copyright")
    (copy.image / STATUS).parent.mkdir(parents=True, exist_ok=True)
    (copy.image / STATUS).write_text("".join(kept))


def _without_usr(path: str) -> str:
    """A path of a package: /lib and /usr/lib may be the same folder."""
    return path.removeprefix("/usr")


def add_program(image: Path) -> None:
    """Let the runtime's program name its Python, because the image has no `env`."""
    program = image / "opt/sparkgen-runtime/sparkgen-runtime"
    _, rest = program.read_text().split("\n", 1)
    program.write_text(f"#!{sys.executable} -IB\n{rest}")
    program.chmod(0o755)
    (image / "usr/local/bin/sparkgen-runtime").symlink_to("/opt/sparkgen-runtime/sparkgen-runtime")
    if not sys.executable.startswith(("/usr/local/bin/", "/usr/bin/")):
        # Hooks of the chart look for python3 on the PATH.
        (image / "usr/local/bin/python3").symlink_to(sys.executable)


def compile_all(image: Path) -> None:
    """Compile to bytecode now: at run time, the root file system is read-only. All architectures share it."""
    for folder in sorted({path.parent for path in image.rglob("*.py")}):
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        if not compileall.compile_dir(
            folder, maxlevels=0, quiet=1, invalidation_mode=mode, stripdir=str(image), prependdir="/"
        ):
            sys.exit(f"cannot compile {folder}")


def set_times(image: Path) -> None:
    """Set the time of every file to that of this file in the build context, so that layers do not differ."""
    time = Path(__file__).stat().st_mtime
    for path in [*image.rglob("*"), image]:
        os.utime(path, (time, time), follow_symlinks=False)


def main(base: Path, image: Path) -> None:
    """Fill the folder of the image."""
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"sparkgen needs Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    copy = Copy(base, image)
    add_python(copy)
    add_shared_libraries(copy)
    add_certificates(copy)
    add_system_files(copy)
    add_packages(copy)
    add_program(image)
    compile_all(image)
    set_times(image)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
