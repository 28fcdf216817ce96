"""What local entries mean on disk: paths inside of artifacts, what is left out, and what is refused."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from pathspec import GitIgnoreSpec

from sparkgen.delivery.ignore import Ignores
from sparkgen.delivery.look import look
from sparkgen.delivery.pack import layer
from sparkgen.delivery.source import source
from sparkgen.delivery.values import Looked
from sparkgen.delivery.work import Work
from sparkgen.errors import SparkgenError
from sparkgen.runtime.fetch import archive

TOKENS = (
    "ghp_" + "aB3" * 12,
    "github_pat_" + "a1" * 11 + "_" + "b" * 59,
    "glpat-" + "aB3-" * 5,
    "xoxb-" + "12345-" * 4,
    "AKIA" + "Q7RS" * 4,
    "ASIA" + "Q7RS" * 4,
    "AccountKey=" + "aB" * 43 + "==",
    "AIza" + "aB3_-" * 7,
    "npm_" + "aB3" * 12,
    "pypi-AgEIcHlwaS5vcmc" + "aB3" * 20,
    "hf_" + "aB" * 17,
    "dop_v1_" + "0f" * 32,
    "dapi" + "0f" * 16,
    "sk-proj-" + "aB3" * 16,
    "sk_live_" + "aB3" * 8,
    "hvs." + "aB3" * 9,
)
"""One of each kind that has a well-known beginning, made here."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a document's folder `apps/etl` and a folder beside it."""
    (tmp_path / ".git").mkdir()
    for name in (
        "apps/etl/jobs/etl.py",
        "apps/etl/lib/a.py",
        "apps/etl/lib/deep/b.py",
        "apps/etl/lib/__pycache__/a.cpython-310.pyc",
        "apps/etl/data/x.csv",
        "apps/etl/jars/one.jar",
        "apps/etl/jars/two.jar",
        "apps/etl/jars/notes.txt",
        "apps/etl/env.tar.gz",
        "shared/util.py",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path / "apps/etl"


def document(
    main: str = "local:///opt/app/x.py", kind: str = "SparkApplication", **deps: Any
) -> dict[str, Any]:
    """A document with a main file and dependencies."""
    spec: dict[str, Any] = {"mainApplicationFile": main, "deps": deps}
    return {"kind": kind, "spec": {"template": spec} if kind.startswith("Scheduled") else spec}


def entries(looked: Looked) -> dict[str, dict[str, tuple[str, ...]]]:
    """Artifact -> entry -> paths inside."""
    assert not looked.wrong, looked.wrong
    return {one.name: dict(one.entries) for one in looked.contents}


def said(looked: Looked) -> str:
    """The one thing that is wrong."""
    [wrong] = looked.wrong
    return f"{wrong.code} {wrong.message}; {wrong.next_step}"


def test_what_begins_with_a_dot_is_local_and_nothing_else(project: Path) -> None:
    """Bare names, absolute paths and URLs mean what they meant."""
    value = document("jobs/etl.py", files=["data/x.csv", "/opt/x", "s3a://b/x", ".hidden/x"])
    assert look(value, project) == Looked(())


def test_each_kind_of_entry(project: Path) -> None:
    """Files, folders and globs, each by its field."""
    value = document(
        "./jobs/etl.py",
        jars=["./jars", "./jars/one.jar"],
        pyFiles=["./lib", "./lib/a.py", "../../shared/*.py"],
        files=["./data"],
        archives=["./env.tar.gz#environment"],
    )
    looked = look(value, project)
    assert entries(looked) == {
        "code": {
            "./jobs/etl.py": ("jobs/etl.py",),
            "./data": ("data/x.csv",),
            "./lib": ("lib/",),
            "./lib/a.py": ("lib/a.py",),
            "../../shared/*.py": ("_parent/_parent/shared/util.py",),
        },
        "dependencies": {
            "./jars": ("jars/one.jar", "jars/two.jar"),
            "./jars/one.jar": ("jars/one.jar",),
            "./env.tar.gz#environment": ("env.tar.gz",),
        },
    }
    inside = [file.inside for file in looked.contents[0].files]
    assert inside == [
        "_parent/_parent/shared/util.py", "data/x.csv", "jobs/etl.py", "lib/a.py", "lib/deep/b.py"
    ]  # fmt: skip
    assert looked.left_out == ("apps/etl/lib/__pycache__/",)


def test_a_scheduled_application_has_its_entries_in_the_template(project: Path) -> None:
    """The path of a problem leads to where the entry stands."""
    looked = look(document("./gone.py", kind="ScheduledSparkApplication"), project)
    assert looked.wrong[0].entry.path == ("spec", "template", "mainApplicationFile")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (document("./gone.py"), "does not exist"),
        (document("./jobs"), "is a folder; name a file in it"),
        (document("./jobs/*.py"), "must be one file, not a glob"),
        (document("../../../outside.py"), "is outside the repository"),
        (document(files=["./*.nothing"]), "matches no file"),
        (document(files=["../../../*"]), "is outside the repository"),
        (document(archives=["./lib"]), "is a folder; pack it"),
        (document(jars=["./lib"]), "has no *.jar"),
        (document(files=["./empty"]), "is an empty folder"),
        (document(files=["./data", "./other"]), "have the same name"),
        (document(files=["./odd name.csv"]), "has ' ' in its name, and Spark parses file names as URIs"),
        (document(files=["./\u00fc.csv"]), "has '\\xfc' in its name"),
        (document(pyFiles=["./"]), "includes the document's folder itself"),
        (document(pyFiles=["./lib"], files=["./lib"]), "is in two fields"),
        (document(files=["./pipe"]), "is a named pipe, and not a regular file; name a file or a folder"),
        (document(files=["./gone.csv"]), "is a symbolic link to something that does not exist; correct or"),
        (document(files=["./a\0b"]), "is not a valid path"),
        (document(files=["./a\ud800"]), "is not a valid path"),
        (document(files=["./*/../../../../*"]), "matches no file"),
    ],
)
def test_what_cannot_be_delivered(project: Path, value: dict[str, Any], message: str) -> None:
    """Each is told at its entry, with the next step."""
    (project / "empty").mkdir()
    (project / "other").mkdir()
    (project / "other/x.csv").write_text("another")
    (project / "odd name.csv").write_text("")
    (project / "\u00fc.csv").write_text("")
    os.mkfifo(project / "pipe")
    (project / "gone.csv").symlink_to("nowhere")
    looked = look(value, project)
    assert message in said(looked)
    assert looked.wrong[0].next_step


@pytest.mark.parametrize("field", ["pyFiles", "files", "jars"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("pipe", "which is a named pipe, and not a regular file"),
        ("dangling", "which is a symbolic link to something that does not exist"),
        ("away", "which is outside the repository: a symbolic link to it is /"),
        ("git", "which leads to .git/config, where Git keeps"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named(project: Path, field: str, kind: str, message: str) -> None:
    """The entry is a folder of many files; whatever is named can also be left out."""
    odd = project / "lib/deep/odd.jar" if field != "jars" else project / "lib/odd.jar"
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        links = {"dangling": "nowhere", "away": "/etc/hosts", "git": str(project.parents[1] / ".git/config")}
        (project.parents[1] / ".git/config").write_text("")
        odd.symlink_to(links[kind])
    value = document(**{field: ["./lib"]})
    words = said(look(value, project))
    assert words.startswith(f"SG308 contains apps/etl/{odd.relative_to(project)}, {message}")
    assert words.endswith(", or add it to .sparkgenignore")
    if field != "jars":
        (project / ".sparkgenignore").write_text("odd.jar\n")
        assert look(value, project).left_out[-1].endswith("odd.jar")


def test_a_link_out_of_the_repository_is_refused_and_one_inside_is_its_file(
    project: Path, tmp_path_factory: Any
) -> None:
    """Contents come from inside the repository, whatever a link is called."""
    outside = tmp_path_factory.mktemp("outside") / "x.py"
    outside.write_text("secret")
    (project / "lib/away.py").symlink_to(outside)
    assert "is outside the repository" in said(look(document(pyFiles=["./lib"]), project))
    (project / "lib/away.py").unlink()
    (project / "lib/util.py").symlink_to("../../../shared/util.py")
    (project / "lib/shared").symlink_to("../../../shared")
    [code] = look(document(pyFiles=["./lib"]), project).contents
    assert {file.inside: file.place for file in code.files}["lib/shared/util.py"].endswith("/shared/util.py")
    assert {file.inside: file.place for file in code.files}["lib/util.py"].endswith("/shared/util.py")


def test_a_link_to_a_folder_above_ends(project: Path) -> None:
    """A circle of folders is refused, not followed forever."""
    (project / "lib/deep/up").symlink_to("../../lib")
    assert "link to a folder above" in said(look(document(pyFiles=["./lib"]), project))


def test_without_git_the_folder_of_the_document_is_the_border(tmp_path: Path) -> None:
    """Nothing says how far up the project reaches."""
    (tmp_path / "app").mkdir()
    (tmp_path / "x.py").write_text("")
    assert "is outside the repository" in said(look(document("../x.py"), tmp_path / "app"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("id_rsa", "x"),
        (".env", "A=b"),
        (".env.production", "A=b"),
        ("spark.keytab", "x"),
        ("kubeconfig", "x"),
        (".aws/credentials", "x"),
        ("server.pem", "-----BEGIN RSA PRIVATE KEY-----\nabc"),
        ("account.json", '{"private_key": "-----BEGIN PRIVATE KEY-----\\nabc"}'),
        ("conf.ini", "aws_secret_access_key = " + "aB3/" * 10),
        (".azure/msal_token_cache.json", "x"),
        ("main.tfstate", "{}"),
        ("state.json", '{"version": 4, "terraform_version": "1.9"}'),
        ("dev.yaml", "clusters: []\ncontexts: []\nusers:\n- name: u\n  user:\n    token: abc\n"),
        ("dev.json", '{"client-key-data": "' + "QUJD" * 10 + '"}'),
        ("adc.json", '{"type": "authorized_user"}'),
        *(("notes.txt", f'x = "{token}"') for token in TOKENS),
    ],
)
def test_a_file_that_looks_secret_is_refused(project: Path, name: str, text: str) -> None:
    """By its name or its text; `!` in the ignore file says that somebody has looked."""
    file = project / "lib" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    looked = look(document(pyFiles=["./lib"]), project)
    assert "seems to contain a secret" in said(looked)
    assert "abc" not in said(looked)
    (project / "../../.sparkgenignore").write_text(f"!apps/etl/lib/{name}\n")
    assert not look(document(pyFiles=["./lib"]), project).wrong


def test_a_private_key_across_two_chunks_is_seen(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in chunks, and a key does not care where they end."""
    monkeypatch.setattr("sparkgen.delivery.disk.CHUNK", 64)
    (project / "lib/key.txt").write_text("x" * 50 + "-----BEGIN PRIVATE KEY-----")
    assert "seems to contain a secret" in said(look(document(pyFiles=["./lib"]), project))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env.example", "-----BEGIN CERTIFICATE-----"),
        ("cert.pem", "-----BEGIN CERTIFICATE-----"),
        ("id_rsa.pub", "ssh-rsa AAAA"),
        ("environment.py", "token: str = ''"),
        ("page.html", '<div class="sk-estimator-doc-link sk-text-repr-fallback-container">'),
        ("example.ini", "key = AKIAIOSFODNN7EXAMPLE"),
        ("model.py", "name = 'hf_hub_download_of_a_model_by_its_name'"),
        ("jobs.yaml", "clusters: [a]\nusers: [b]\ncontexts: 5\ntokens: 3\n"),
    ],
)
def test_what_only_reads_like_a_secret_is_delivered(project: Path, name: str, text: str) -> None:
    """Certificates, samples and long names are no secrets."""
    (project / "lib" / name).write_text(text)
    assert not look(document(pyFiles=["./lib"]), project).wrong


def test_ignore_files(project: Path) -> None:
    """Each is about its folder; the deeper one overrides; what is left out is told."""
    (project / "../../.sparkgenignore").write_text("*.csv\n/shared/\n")
    (project / "data/.sparkgenignore").write_text("!x.csv\n")
    (project / "data/y.txt").write_text("")
    (project / "lib/z.csv").write_text("")
    looked = look(document(pyFiles=["./lib"], files=["./data/*"]), project)
    assert entries(looked)["code"] == {"./lib": ("lib/",), "./data/*": ("data/x.csv", "data/y.txt")}
    assert looked.left_out == ("apps/etl/lib/__pycache__/", "apps/etl/lib/z.csv")
    assert "is ignored by .sparkgenignore" in said(look(document("../../shared/util.py"), project))


def test_too_much(project: Path) -> None:
    """The size is that of all files, and the largest is named."""
    (project / "lib/big.bin").write_bytes(bytes(5000))
    told = said(look(document(pyFiles=["./lib"]), project, max_bytes=4000))
    assert "the largest is lib/big.bin with 4.9 KiB" in told
    assert "maxArtifactSize" in told


def test_requirements(project: Path) -> None:
    """They need exact versions and a Python."""
    (project / "requirements.txt").write_text(
        "--index-url https://me:word@pypi.example.com/simple\nsix==1.17.0 \\\n  --hash=sha256:00\n"
        "# note\nattrs==25.1.0 ; python_version < '3.12'\n"
    )
    good = document(requirements="requirements.txt", pythonVersion="3.10")
    looked = look(good, project)
    assert entries(looked) == {"dependencies": {"requirements.txt": ("python/",)}}
    other = look(document(requirements="requirements.txt", pythonVersion="3.11"), project)
    assert source(looked.contents[0]) != source(other.contents[0])
    assert "needs a Python version" in said(look(document(requirements="./requirements.txt"), project))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pandas", "has no exact version"),
        ("pandas>=2", "has no exact version"),
        ("pandas==2.*", "has no exact version"),
        ("-r other.txt", "includes another file"),
        ("-e ./lib", "installs a local folder"),
        ("./lib", "is a local file"),
        ("git+https://github.com/x/y", "must be an https URL of a wheel with a hash"),
        ("x @ https://e.org/x-1-py3-none-any.whl", "must be an https URL of a wheel with a hash"),
        ("--find-links /tmp", "is an option that sparkgen does not support"),
        ("-i https://me:word@e.org\npandas", "line 2 has no exact version"),
    ],
)
def test_requirements_that_change(project: Path, line: str, message: str) -> None:
    """What would install something else tomorrow is told with its line."""
    (project / "requirements.txt").write_text(f"{line}\n")
    told = said(look(document(requirements="./requirements.txt", pythonVersion="3.10"), project))
    assert message in told
    assert "SG309" in told
    assert "word" not in told


def test_wheels_by_address_with_a_hash_are_pinned(project: Path) -> None:
    """The hash says which bytes."""
    digest = "0" * 64
    (project / "r.txt").write_text(
        f"x @ https://e.org/x-1-py3-none-any.whl#sha256={digest}\n"
        f"y @ https://e.org/y-1.whl --hash=sha256:{digest}\n"
    )
    assert not look(document(requirements="r.txt", pythonVersion="3.10"), project).wrong


def test_the_source_follows_contents_modes_and_paths(project: Path) -> None:
    """And nothing else: not the time of a file."""

    def now() -> str:
        return source(look(document(pyFiles=["./lib"]), project).contents[0])

    first = now()
    os.utime(project / "lib/a.py", (1, 1))
    (project / "lib/a.py").chmod(0o600)
    assert now() == first
    (project / "lib/a.py").chmod(0o755)
    executable = now()
    (project / "lib/a.py").write_text("changed")
    changed = now()
    (project / "lib/a.py").rename(project / "lib/c.py")
    assert len({first, executable, changed, now()}) == 4


@pytest.mark.parametrize("link", ["conf.txt", "lib/more"])
def test_what_is_gits_is_never_delivered(project: Path, link: str) -> None:
    """Its configuration has the token of a clone or of a CI system, whatever links and ignore files say."""
    (project / "../../.git/config").write_text("[http]\n  extraheader = AUTHORIZATION: basic xxx\n")
    above = "../" * (2 + link.count("/"))
    (project / link).symlink_to(f"{above}.git{'/config' if link.endswith('txt') else ''}")
    (project / "../../.sparkgenignore").write_text(f"!.git\n!apps/etl/{link}\n")
    assert "leads to .git/config" in said(look(document(pyFiles=[f"./{link}"]), project))
    assert "leads to .git/config" in said(look(document(files=["../../.git/config"]), project))


def test_a_link_is_judged_by_what_it_leads_to(project: Path) -> None:
    """A harmless name for a file with secrets is an oversight like another."""
    (project / ".env").write_text("A=b")
    (project / "lib/settings.txt").symlink_to("../.env")
    assert "seems to contain a secret" in said(look(document(pyFiles=["./lib"]), project))


def ignore_file(project: Path, kind: str) -> None:
    """A `.sparkgenignore` in `lib` that cannot be used."""
    file = project / "lib/.sparkgenignore"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "large":
        file.write_bytes(b"#" * (2 << 20))
    elif kind.startswith("/"):
        file.symlink_to(kind)
    else:
        file.write_text(kind)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("/dev/zero", "is outside the repository"),
        ("/etc/passwd", "is outside the repository"),
        ("pipe", "is not a regular file"),
        ("large", "is larger than 1 MiB"),
        ("a\n!\n", "has an invalid pattern in line 2"),
        ("[z-a]", "has an invalid pattern in line 1"),
        ("*a*a*a*a*a*a*ab", "has more than 3 wildcards in line 1"),
        ("**/a/**/a/**/a/**/b", "has more than 3 wildcards in line 1"),
    ],
)
def test_an_ignore_file_that_cannot_be_used_is_an_error(project: Path, kind: str, message: str) -> None:
    """Whoever wrote it wants something kept out: it is not passed over, and nothing else is opened."""
    ignore_file(project, kind)
    (project / "lib" / ("a" * 255)).write_text("")
    told = said(look(document(files=[f"./lib/{'a' * 255}"]), project))
    assert f"apps/etl/lib/.sparkgenignore {message}" in told


def linked(project: Path, depth: int) -> None:
    """Folders of which each has two links to the next one: two ways at each step."""
    for number in range(depth):
        folder = project / f"chain/{number}"
        folder.mkdir(parents=True)
        for name in "ab":
            (folder / name).symlink_to(f"../{number + 1}")
    (project / f"chain/{depth}").mkdir()
    (project / f"chain/{depth}/x.py").write_text("x")


def test_links_do_not_multiply(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty links are 2 to the 30th paths: a folder and a glob both end, with a reason."""
    monkeypatch.setattr("sparkgen.delivery.look.MOST_SEEN", 2000)
    linked(project, 30)
    assert "has more than 2000" in said(look(document(pyFiles=["./chain/0"]), project))
    looked = look(document(files=["./chain/0/**/*.py"]), project, work=Work(seen=2000))
    assert "searches, with the globs before it, more than" in said(looked)


def test_what_is_looked_at_is_counted_for_all_documents_of_a_command(project: Path) -> None:
    """Many globs of many `**`: a folder is read once, and all of it together is bounded."""
    for number in range(50):
        (project / f"lib/{number:02}.py").write_text("")
    deep = "./" + "**/" * 200 + "*.nope"
    repeated = Work()
    assert "matches no file" in said(look(document(files=[deep]), project, work=repeated))
    once = Work()
    assert "matches no file" in said(look(document(files=["./**/*.nope"]), project, work=once))
    assert repeated == once
    spent = Work().seen - once.seen
    few = Work(seen=10 * spent)
    alternating = "./" + "**/../" * 200 + "*.nope"
    assert "searches, with" in said(look(document(files=[alternating]), project, work=few))
    assert "searches, with" in said(look(document(files=["./**/*.py"]), project, work=few))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\n" * 5001, "has more than 5000 lines"),
        ("x\n" + "x" * 4097, "has more than 4096 characters in line 2"),
        ("x*y\n" * 99, "has too many lines for this many files"),
    ],
)
def test_an_ignore_file_costs_a_bounded_time(project: Path, text: str, message: str) -> None:
    """Its lines are compared with each file."""
    (project / "lib/.sparkgenignore").write_text(text)
    looked = look(document(files=["./lib"]), project, work=Work(checks=10_000))
    assert message in said(looked)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("a*b*c", "axbybxc"),
        ("*a*a*b", "xaaxab"),
        ("a*b*c", "acb"),
        ("*.tar.*", "x.tar.tar.gz"),
        ("a**b*c", "abc"),
        ("x*[ab]*z", "x/abz"),
        ("x*[!ab]*z", "xcz"),
        ("*x/*y*z/**", "ax/y1y2z/q"),
        ("a*?*c", "abc"),
    ],
)
def test_a_pattern_means_what_it_did(pattern: str, path: str) -> None:
    """Written so that it goes through a name once, it matches the same paths as Git's."""
    ours = Ignores(lambda folder: None if folder else pattern, Work())
    assert ours.of(path).ignored == bool(GitIgnoreSpec.from_lines([pattern]).match_file(path))


def test_a_glob_stays_in_the_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links that lead out are not followed, nor those that lead back: they would lead through the machine."""
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(os.path.realpath(path)) or scandir(path))
    (project / "lib/root").symlink_to("/")
    (project / "lib/here").symlink_to(".")
    looked = look(document(files=["./**/*.csv"], pyFiles=["./**/**/**/b.py"]), project)
    assert entries(looked)["code"]["./**/*.csv"] == ("data/x.csv",)
    assert entries(looked)["code"]["./**/**/**/b.py"] == ("lib/deep/b.py",)
    assert all(Path(one).is_relative_to(project.parents[1]) for one in listed)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("line\nfeed.py", "has a control character or a backslash"),
        ("back\\slash.py", "has a control character or a backslash"),
        ("/".join("d" * 101) + "/x.py", "is nested deeper than 100 folders"),
    ],
)
def test_what_pods_would_refuse_is_not_pushed(project: Path, name: str, message: str) -> None:
    """A file that `fetch` does not unpack is found beside the document, not in the cluster."""
    file = project / "lib" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    assert message in said(look(document(pyFiles=["./lib"]), project))


def test_all_that_is_packed_can_be_unpacked(project: Path, tmp_path_factory: Any) -> None:
    """The longest name, the deepest folder and odd characters, as `sparkgen push` packs and pods unpack."""
    for name in ("\u00fc" * 127, " a#b:c%d", "\u202e", "/".join("d" * 97) + "/x", f"{'e' * 255}/{'f' * 255}"):
        file = project / "lib" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    [code] = look(document(pyFiles=["./lib"]), project).contents
    made = layer(code.files)
    target = tmp_path_factory.mktemp("unpacked")
    count = archive.unpack(io.BytesIO(b"".join(made.chunks())), target, made.unpacked)
    assert count == len(code.files)
    assert sorted(str(one.relative_to(target)) for one in target.rglob("*") if one.is_file()) == sorted(
        file.inside for file in code.files
    )


def test_a_file_that_changes_under_the_push_is_not_packed(project: Path) -> None:
    """Also one of the same size: what was looked at is what is sent."""
    [code] = look(document(pyFiles=["./lib"]), project).contents
    file = project / "lib/a.py"
    text = file.read_text()
    made = layer(code.files)
    for other in (text.swapcase(), f"{text}x"):
        file.write_text(other)
        with pytest.raises(SparkgenError, match="changed while it was being packed"):
            layer(code.files)
        with pytest.raises(SparkgenError, match="changed while it was being packed"):
            list(made.chunks())


def test_an_artifact_of_too_many_folders_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders count as well where artifacts are unpacked."""
    monkeypatch.setattr("sparkgen.delivery.sizes.MOST_ENTRIES", 4)
    assert "4 or more files and folders" in said(look(document(pyFiles=["./lib"]), project))
