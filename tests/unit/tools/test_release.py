"""A release: what it refuses, its checksums, and what its bill of materials lists."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

import release.__main__ as release
from cluster import runtime_image
from common.cachedir import ToolError
from release import archives, bills, contents, names, provenance
from release.names import Names
from release.provenance import Build
from spark import scheduler
from sparkgen import __version__
from sparkgen.image import runtime_files
from tests.unit.images.test_assemble import make_elf

STATUS = """Package: python3-minimal
Status: install ok installed
Architecture: amd64
Version: 3.13.5-1
Description: Python
 Version: of a continuation line, which is none

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""


def checkout(folder: Path, version: str = __version__, app_version: str = __version__) -> Path:
    """A repository in which all that there is, a chart, is committed."""
    chart = folder / "charts" / "spark-app" / "Chart.yaml"
    chart.parent.mkdir(parents=True)
    chart.write_text(f"version: {version}\nappVersion: {app_version}\n", encoding="utf-8")
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "."), (*person, "commit", "-qm", "Begin")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder


@pytest.mark.parametrize("field", ["version", "app_version"])
def test_a_chart_of_another_version_is_not_released(tmp_path: Path, field: str) -> None:
    """Chart and sparkgen have one version."""
    with pytest.raises(ToolError, match=r"9\.9\.9"):
        release.agree(checkout(tmp_path, **{field: "9.9.9"}), dirty=True)


def test_only_what_is_committed_is_released(tmp_path: Path) -> None:
    """Unless that is asked for."""
    folder = checkout(tmp_path)
    release.agree(folder, dirty=False)
    (folder / "new.py").touch()
    with pytest.raises(ToolError, match=r"new\.py"):
        release.agree(folder, dirty=False)
    release.agree(folder, dirty=True)


def test_sha256sum_reads_the_checksums(tmp_path: Path) -> None:
    """Each file has a line, and a changed file is found."""
    (tmp_path / "a.whl").write_bytes(b"a")
    (tmp_path / "b.tar").write_bytes(b"b")
    text = release.sums(tmp_path)
    (tmp_path / release.SUMS).write_text(text, encoding="utf-8")
    check = ["sha256sum", "--check", "--status", release.SUMS]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "b.tar").write_bytes(b"c")
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 1


def test_installed_packages_are_listed_alone() -> None:
    """With Debian's package URL; a package that was removed is not there any more."""
    assert [str(part.purl) for part in bills.debian_components(STATUS)] == [
        "pkg:deb/debian/python3-minimal@3.13.5-1?arch=amd64"
    ]


def test_a_jar_is_listed_with_what_it_was_compiled_against(tmp_path: Path) -> None:
    """Its checksum names the very file; Spark and Scala are in no field of their own."""
    jar = tmp_path / "sparkgen-scheduler_2.12.jar"
    jar.write_bytes(b"jar")
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "scala-library-2.12.18.jar").touch()
    assert bills.scala_version(tmp_path) == "2.12.18"
    found = bills.jar_component(jar, "3.5.8", "2.12.18")
    assert str(found.purl) == f"pkg:maven/dev.sparkgen/sparkgen-scheduler_2.12@{__version__}"
    assert [one.content for one in found.hashes] == [hashlib.sha256(b"jar").hexdigest()]
    assert {one.name.rpartition(":")[2]: one.value for one in found.properties} == {
        "spark": "3.5.8",
        "scala": "2.12.18",
    }


def test_the_bill_of_the_wheel_lists_the_runtime_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its libraries and jars, as that of the image; each version of a library once."""
    (jar := tmp_path / "sparkgen-scheduler_2.12.jar").write_bytes(b"jar")
    monkeypatch.setattr(bills, "jar_components", lambda: [bills.jar_component(jar, "3.5.8", "2.12.18")])
    monkeypatch.setattr(bills, "resolved", lambda _wheel: ["PyYAML==6.0.3", "h2==4.4.1", "urllib3==1.0"])
    monkeypatch.setattr(runtime_image, "requirements", lambda: ["urllib3==2.8.0", "h2==4.4.1"])
    monkeypatch.setattr(release, "committed", lambda: 0)
    release._write_bills(tmp_path, tmp_path / "sparkgen.whl", tmp_path / "image.oci.tar", STATUS)

    def listed(name: str) -> list[str]:
        found = json.loads((tmp_path / f"{name}.cdx.json").read_text("utf-8"))["components"]
        return sorted(f"{part['name']} {part['version']}" for part in found)

    runtime = ["h2 4.4.1", f"sparkgen-scheduler_2.12 {__version__}", "urllib3 2.8.0"]
    assert listed("sparkgen") == sorted([*runtime, "PyYAML 6.0.3", "urllib3 1.0"])
    assert listed("image") == sorted([*runtime, "python3-minimal 3.13.5-1"])


def test_the_runtime_of_a_wheel_is_made_from_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with other files, which the environment of the build names, is not in it."""
    made: list[dict[str, str]] = []
    built: list[str] = []
    monkeypatch.setenv(runtime_files.FOLDER, str(tmp_path / "other"))
    monkeypatch.setattr(scheduler, "ensure", lambda _line: tmp_path)
    monkeypatch.setattr(runtime_files, "write", lambda _folder, given, _progress: made.append(dict(given)))
    monkeypatch.setattr(release, "_run", lambda *_command, **given: built.append(given[runtime_files.FOLDER]))
    release._build_wheel(tmp_path)
    assert [runtime_files.FOLDER in given for given in made] == [False]
    assert [folder != str(tmp_path / "other") for folder in built] == [True]


NAMES = Names(
    repository="https://git.example.org/me/sparkgen",
    registry="registry.example.org/me",
    index="https://index.example.org/simple/",
    issuer="https://token.example.org",
    security="security@example.org",
)


def test_the_provenance_names_every_file_and_the_image() -> None:
    """As in-toto and SLSA write it; on a person's machine, nobody vouches for the builder."""
    built = Build("1.2.3", "4b825dc6")
    told = provenance.statement(NAMES, built, {"b.whl": "22", "a.tgz": "11"}, "sha256:33", {})
    assert told["_type"] == "https://in-toto.io/Statement/v1"
    assert told["predicateType"] == "https://slsa.dev/provenance/v1"
    assert told["subject"] == [
        {"name": "a.tgz", "digest": {"sha256": "11"}},
        {"name": "b.whl", "digest": {"sha256": "22"}},
        {"name": "registry.example.org/me/sparkgen-runtime", "digest": {"sha256": "33"}},
    ]
    assert told["predicate"] == {
        "buildDefinition": {
            "buildType": "https://git.example.org/me/sparkgen/blob/v1.2.3/docs/verify.md"
            "#what-the-provenance-says",
            "externalParameters": {"command": "make release", "version": "1.2.3"},
            "resolvedDependencies": [
                {"uri": "git+https://git.example.org/me/sparkgen", "digest": {"gitCommit": "4b825dc6"}}
            ],
        },
        "runDetails": {"builder": {"id": "https://git.example.org/me/sparkgen#local"}},
    }


def test_the_provenance_tells_of_the_workflow_and_of_uncommitted_changes() -> None:
    """The variables are those of GitHub; a commit alone does not say what else was built."""
    variables = {
        "GITHUB_SERVER_URL": "https://git.example.org",
        "GITHUB_REPOSITORY": "me/sparkgen",
        "GITHUB_WORKFLOW_REF": "me/sparkgen/.github/workflows/release.yml@refs/tags/v1.2.3",
        "GITHUB_RUN_ID": "42",
        "GITHUB_RUN_ATTEMPT": "2",
    }
    told = provenance.statement(NAMES, Build("1.2.3", "4b825dc6", dirty=True), {}, "sha256:33", variables)
    assert told["predicate"]["buildDefinition"]["externalParameters"]["uncommittedChanges"] is True
    assert told["predicate"]["runDetails"] == {
        "builder": {"id": NAMES.identity("1.2.3")},
        "metadata": {"invocationId": "https://git.example.org/me/sparkgen/actions/runs/42/attempts/2"},
    }


def test_the_file_of_names_has_all_of_them(tmp_path: Path) -> None:
    """One that is missing, unknown or no string is refused; OWNER is still to be filled in."""
    assert names.read().missing() in ([], ["repository", "registry", "security"])
    assert NAMES.missing() == []
    file = tmp_path / "release.toml"
    for text in ('repository = "x"', f"{names.FILE.read_text('utf-8')}\nother = 'x'", "repository = 1"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ToolError, match="index, issuer, registry, repository, security"):
            names.read(file)


def test_nothing_is_published_without_a_home(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The workflow then ends with the fields to fill in; otherwise it gets every name as an output."""
    monkeypatch.setattr(names, "read", lambda: NAMES)
    assert names.main() == 0
    assert "registry=registry.example.org/me\n" in capsys.readouterr().out
    monkeypatch.setattr(names, "read", lambda: replace(NAMES, registry="ghcr.io/OWNER"))
    assert names.main() == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "replace OWNER in registry, then" in output.err


def blob(files: tarfile.TarFile, data: bytes) -> str:
    """Add a blob to an OCI archive; its digest."""
    digest = hashlib.sha256(data).hexdigest()
    entry = tarfile.TarInfo(f"blobs/sha256/{digest}")
    entry.size = len(data)
    files.addfile(entry, io.BytesIO(data))
    return f"sha256:{digest}"


def layer(**content: str | bytes) -> bytes:
    """A compressed layer with these files; a text that begins with "->" is the target of a link."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as files:
        for name, text in content.items():
            data = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(name)
            if data.startswith(b"->"):
                entry.type, entry.linkname = tarfile.SYMTYPE, data[2:].decode()
                data = b""
            entry.size = len(data)
            files.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def test_packages_of_an_image_for_several_architectures(tmp_path: Path) -> None:
    """Of the uppermost layer that lists them, through an index in the index, as builders write it."""
    with tarfile.open(tmp_path / "image.tar", "w") as files:
        status = {bills.DPKG_STATUS: STATUS}
        layers = [layer(**{bills.DPKG_STATUS: "old"}), layer(**status), layer(other="")]
        manifest = {"layers": [{"digest": blob(files, one)} for one in layers]}
        inner = {"manifests": [{"digest": blob(files, json.dumps(manifest).encode())}]}
        outer = json.dumps({"manifests": [{"digest": blob(files, json.dumps(inner).encode())}]}).encode()
        entry = tarfile.TarInfo("index.json")
        entry.size = len(outer)
        files.addfile(entry, io.BytesIO(outer))
    assert bills.archived_status(tmp_path / "image.tar") == STATUS
    inner_digest = json.loads(outer)["manifests"][0]["digest"]
    assert archives.image_digest(tmp_path / "image.tar") == inner_digest


def test_an_archive_with_two_images_is_no_release(tmp_path: Path) -> None:
    """A registry gets one, and the provenance names one."""
    with tarfile.open(tmp_path / "image.tar", "w") as files:
        index = json.dumps({"manifests": [{"digest": "sha256:1"}, {"digest": "sha256:2"}]}).encode()
        entry = tarfile.TarInfo("index.json")
        entry.size = len(index)
        files.addfile(entry, io.BytesIO(index))
    with pytest.raises(ToolError, match="has 2 images"):
        archives.image_digest(tmp_path / "image.tar")


NUMBERS = {"amd64": 62, "arm64": 183}
FOLDERS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}


def content(architecture: str) -> dict[str, str | bytes]:
    """The files of a small image that has all it needs: one library is in a folder of the program's own."""
    machine, folder = NUMBERS[architecture], FOLDERS[architecture]
    linker = {"amd64": "lib64/ld-linux-x86-64.so.2", "arm64": "lib/ld-linux-aarch64.so.1"}[architecture]
    return {
        "./lib": "->usr/lib",
        f"./usr/{linker}": make_elf(machine=machine),
        "./usr/bin/python3": make_elf("libc.so", "libown.so", search="$ORIGIN/../own", machine=machine),
        f"./usr/lib/{folder}/libc.so": "->libc.so.6",
        f"./usr/lib/{folder}/libc.so.6": make_elf(machine=machine),
        "./usr/own/libown.so": make_elf(machine=machine),
        "./etc/passwd": "root",
    }


def image(path: Path, images: dict[str, dict[str, str | bytes]]) -> Path:
    """An OCI archive with an image of one layer for each architecture, and what Docker adds to it."""
    with tarfile.open(path, "w") as files:
        entries = []
        for architecture, parts in images.items():
            made = layer(**parts)
            configuration = blob(files, json.dumps({"architecture": architecture}).encode())
            layers = [{"digest": blob(files, made), "size": len(made)}]
            manifest = json.dumps({"config": {"digest": configuration}, "layers": layers}).encode()
            entries.append({"digest": blob(files, manifest), "platform": {"architecture": architecture}})
        entries.append({"digest": blob(files, b"{}"), "platform": {"architecture": "unknown"}})
        outer = json.dumps({"manifests": entries}).encode()
        entry = tarfile.TarInfo("index.json")
        entry.size = len(outer)
        files.addfile(entry, io.BytesIO(outer))
    return path


def test_the_sizes_of_a_good_image_are_printed(tmp_path: Path) -> None:
    """For each architecture, as podman counts and as it is transferred."""
    made = image(tmp_path / "image.tar", {name: content(name) for name in NUMBERS})
    amd64, arm64 = contents.check(made).splitlines()
    assert amd64.startswith("amd64: 0.0 MB unpacked, 0.0 MB in the archive, 5 files, 4 programs")
    assert arm64.startswith("arm64: ")


def test_an_image_of_more_than_60_mb_is_not_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty million bytes, unpacked."""
    assert contents.MOST_BYTES == 60_000_000
    monkeypatch.setattr(contents, "MOST_BYTES", 100_000)
    big = {**content("arm64"), "./zeros": bytes(100_000)}
    made = image(tmp_path / "image.tar", {"amd64": {**content("amd64"), "./zeros": b"0"}, "arm64": big})
    with pytest.raises(ToolError, match=r"arm64: 0\.1 MB, more than 0 MB") as refused:
        contents.check(made)
    assert "amd64:" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "found", "says"),
    [
        (
            "./usr/bin/python3",
            make_elf(machine=62),
            "arm64: usr/bin/python3 is for another architecture (62)",
        ),
        ("./usr/lib/aarch64-linux-gnu/libc.so.6", None, "arm64: there is no libc.so, which usr/bin/python3"),
        ("./usr/own/libown.so", None, "arm64: there is no libown.so, which usr/bin/python3 needs"),
        ("./usr/own/libown.so", "no library", "arm64: there is no libown.so, which usr/bin/python3 needs"),
        ("./etc/passwd", None, "arm64: missing etc/passwd"),
        ("./etc/group", "root", "amd64: missing etc/group"),
    ],
)
def test_an_incomplete_image_is_not_released(
    tmp_path: Path, path: str, found: str | bytes | None, says: str
) -> None:
    """Although none of its programs can run here."""
    parts = {name: text for name, text in content("arm64").items() if name != path}
    changed = parts if found is None else {**parts, path: found}
    made = image(tmp_path / "image.tar", {"amd64": content("amd64"), "arm64": changed})
    with pytest.raises(ToolError) as refused:
        contents.check(made)
    assert says in str(refused.value)


def test_an_image_for_one_architecture_is_not_released(tmp_path: Path) -> None:
    """The docs promise both."""
    made = image(tmp_path / "image.tar", {"amd64": content("amd64")})
    with pytest.raises(ToolError, match="the image is for amd64, and must be for amd64 and arm64"):
        contents.check(made)
