"""`sparkgen diff` reads the files that `render` renders: whatever they look like, and never past a link."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sparkgen.usecases import local_files

from .conftest import DOCUMENT, Cli
from .test_cli_diff import commit, git, rewrite

FORMS: dict[str, Callable[[str], str]] = {
    "byte order mark": lambda text: "\ufeff" + text,
    "quoted key": lambda text: text.replace("apiVersion:", '"apiVersion":'),
    "indented": lambda text: "".join(f" {line}" for line in text.splitlines(keepends=True)),
    "tag": lambda text: text.replace("apiVersion:", "apiVersion: !!str"),
    "explicit key": lambda text: text.replace("apiVersion: ", "? apiVersion\n: "),
}


@pytest.fixture
def tree(cli: Cli) -> Cli:
    """A repository with one document in apps/pi, one overlay for prod, and notes outside of apps."""
    git("init", "--quiet")
    for name, text in {
        "apps/pi/app.yaml": DOCUMENT,
        "docs/notes/prod.yaml": "spec: {image: docker.io/apache/spark:4.0.1}\n",
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    commit("start")
    return cli


def link(name: str, target: str) -> None:
    """Replace a file by a symbolic link."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).unlink(missing_ok=True)
    Path(name).symlink_to(target)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("to", [(), ("--to", "HEAD")])
@pytest.mark.parametrize("source", [("-R", "apps"), ("apps/new",)])
def test_every_form_that_is_rendered_is_compared(
    tree: Cli, form: str, to: tuple[str, ...], source: tuple[str, ...]
) -> None:
    """YAML has many ways to write one key."""
    Path("apps/new").mkdir()
    Path("apps/new/app.yaml").write_text(FORMS[form](DOCUMENT.replace("name: pi", "name: new")), "utf-8")
    first = git("rev-parse", "HEAD")
    commit()
    assert tree("render", "-R", "apps", "-o", "deploy").code == 0
    assert Path("deploy/new/job.yaml").is_file()
    result = tree("diff", "--from", first, *to, "--brief", *source)
    assert (result.code, result.err) == (1, "")
    assert result.out.startswith("default/new (apps/new/app.yaml): added\n")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("apps/environments", "../docs/notes"),
        ("apps/environments/prod.yaml", "../../docs/notes/prod.yaml"),
        ("apps/environments/prod.yaml", "nothing"),
        ("apps/linked/app.yaml", "../../linked.txt"),
        ("apps/linked/app.yaml", "../pi/app.yaml"),
    ],
)
def test_what_is_read_with_r_is_no_link(tree: Cli, name: str, target: str) -> None:
    """A reviewer sees a link of a few bytes, and no word of what is rendered from it."""
    Path("linked.txt").write_text(DOCUMENT.replace("name: pi", "name: linked"))
    commit()
    first = git("rev-parse", "HEAD")
    link(name, target)
    commit()
    said = f"{name} is a symbolic link; with -R, documents, overlays and folders `environments` must not be"
    for command in (
        ("render", "-R", "apps", "-o", "deploy"),
        ("diff", "--from", first, "-R", "apps"),
        ("diff", "--from", first, "--to", "HEAD", "-R", "apps"),
    ):
        result = tree(*command)
        assert (result.code, result.out) == (2, "")
        assert said in result.err
    assert not Path("deploy").exists()


@pytest.mark.parametrize("name", ["apps/environments", "apps/linked/app.yaml", "apps/environments/prod.yaml"])
def test_a_link_out_of_the_repository_is_named_as_such(tree: Cli, name: str) -> None:
    """Nobody can tell from a commit what is there."""
    link(name, "/proc/self" if name.endswith("environments") else "/proc/self/status")
    commit()
    for command in (
        ("render", "-R", "apps", "-o", "deploy"),
        ("diff", "--from", "HEAD~1", "-R", "apps"),
        ("diff", "--from", "HEAD~1", "--to", "HEAD", "-R", "apps"),
    ):
        result = tree(*command)
        assert result.code == 2
        assert f"{name} is a symbolic link out of the repository; " in result.err


def test_all_links_are_named_at_once(tree: Cli) -> None:
    """So that one change mends them."""
    link("apps/a/app.yaml", "../pi/app.yaml")
    link("apps/environments", "../docs/notes")
    err = tree("render", "-R", "apps", "-o", "deploy").err
    assert "apps/a/app.yaml is a symbolic link, apps/environments is a symbolic link; with -R" in err


def test_links_that_are_not_read_are_no_error(tree: Cli) -> None:
    """Other programs' files may be links, and folders that are links are not searched."""
    link("apps/values.yaml", "../docs/notes/prod.yaml")
    link("apps/nowhere.yaml", "nothing")
    link("apps/again", "pi")
    link("apps/.hidden.yaml", "pi/app.yaml")
    link("apps/pi/app.lock.yaml", "../../docs/notes/none")
    commit()
    assert tree("render", "-R", "apps", "-o", "deploy").code == 0
    for to in ((), ("--to", "HEAD")):
        result = tree("diff", "--from", "HEAD~1", *to, "-R", "apps")
        assert (result.code, result.err) == (0, "no changes: 1 up to date\n")


def test_a_link_of_the_earlier_revision_does_not_keep_anybody_from_mending_it(tree: Cli) -> None:
    """As with a broken document of the earlier revision: it counts as not there."""
    link("apps/linked/app.yaml", "../pi/app.yaml")
    commit()
    Path("apps/linked/app.yaml").unlink()
    Path("apps/linked/app.yaml").write_text(DOCUMENT.replace("name: pi", "name: linked"))
    result = tree("diff", "--from", "HEAD", "--brief", "-R", "apps")
    assert result.code == 1
    assert "HEAD: apps/linked/app.yaml is a symbolic link; " in result.err
    assert "default/linked (apps/linked/app.yaml): added\n" in result.out


@pytest.mark.parametrize("source", ["apps/linked", "apps/linked/app.yaml", "apps/folder/app.yaml"])
def test_without_r_a_link_is_followed_in_its_own_revision(tree: Cli, source: str) -> None:
    """`render` follows it as well. What it leads to then and now is compared, not what the work tree has."""
    Path("linked.txt").write_text(DOCUMENT)
    link("apps/linked/app.yaml", "../../linked.txt")
    link("apps/folder", "pi")
    commit()
    rewrite("instances: 2", "instances: 3", "linked.txt")
    rewrite("instances: 2", "instances: 3", "apps/pi/app.yaml")
    commit()
    for to in ((), ("--to", "HEAD")):
        result = tree("diff", "--from", "HEAD~1", *to, "--brief", source)
        assert (result.code, result.err) == (1, "")
        assert "instances  2 -> 3" in result.out
    Path("apps/linked/app.yaml").unlink()
    Path("apps/folder").unlink()
    result = tree("diff", "--from", "HEAD~1", "--to", "HEAD", "--brief", source)
    assert (result.code, result.err) == (1, "")


def test_a_file_that_becomes_a_link_is_compared_with_itself(tree: Cli) -> None:
    """The name in the earlier revision is that of the file, not of what the link leads to now."""
    Path("apps/pi/other.txt").write_text(DOCUMENT.replace("instances: 2", "instances: 5"))
    commit()
    link("apps/pi/app.yaml", "other.txt")
    result = tree("diff", "--from", "HEAD", "--brief", "apps/pi/app.yaml")
    assert "instances  2 -> 5" in result.out


@pytest.mark.parametrize(
    ("option", "target"),
    [
        ("source", "nothing"),
        ("source", "/proc/self/status"),
        ("-f", "/proc/self/status"),
        ("--lock", "/proc/self/status"),
    ],
)
def test_a_named_link_to_nothing_that_can_be_read_is_an_error(tree: Cli, option: str, target: str) -> None:
    """Never as if there were no such file."""
    name = "apps/pi/app.yaml" if option == "source" else "apps/other.txt"
    link(name, target)
    commit()
    more = () if option == "source" else (option, name)
    result = tree("diff", "--from", "HEAD~1", "--to", "HEAD", *more, "apps/pi/app.yaml")
    assert (result.code, result.out) == (2, "")
    assert f"{name} is a symbolic link " in result.err


@pytest.mark.parametrize("name", ["apps/pi/app.lock.yaml", ".sparkgen.yaml"])
def test_a_lock_or_a_configuration_out_of_the_repository_is_an_error(tree: Cli, name: str) -> None:
    """`render` refuses both as well."""
    link(name, "/proc/self/status")
    commit()
    for source in (("-R", "apps"), ("apps/pi",)):
        result = tree("diff", "--from", "HEAD~1", "--to", "HEAD", *source)
        assert (result.code, result.out) == (2, "")
        assert f"{name} is a symbolic link out of the repository; " in result.err


def test_a_configuration_of_a_commit_is_read_through_a_link(tree: Cli) -> None:
    """It changes what is rendered."""
    link(".sparkgen.yaml", "docs/configuration.txt")
    Path("docs/configuration.txt").write_text("runtimeImage: registry.example.com/one:1\n")
    commit()
    Path("docs/configuration.txt").write_text("runtimeImage: registry.example.com/two:1\n")
    commit()
    out = tree("diff", "--from", "HEAD~1", "--to", "HEAD", "-R", "apps").out
    assert "registry.example.com/one:1" in out
    assert "registry.example.com/two:1" in out


def test_a_name_with_a_line_feed_cannot_hide_a_link(tree: Cli) -> None:
    """Git's batch takes one name a line."""
    link("apps/a\nb.yaml", "pi/app.yaml")
    commit()
    result = tree("diff", "--from", "HEAD~1", "--to", "HEAD", "-R", "apps")
    assert result.code == 2
    assert "is a symbolic link" in result.err


@pytest.mark.parametrize("name", [":!x.yaml", ":(top)x.yaml", "[x].yaml", "*.yaml"])
@pytest.mark.parametrize("variable", ["GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_NOGLOB_PATHSPECS"])
def test_a_name_is_no_pattern_of_git(
    cli: Cli, name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file's name nor a variable of the reader changes what git lists."""
    monkeypatch.setenv(variable, "1")
    git("init", "--quiet")
    text = DOCUMENT.replace("local:///opt/spark/examples/src/main/python/pi.py", "./x.py")
    Path(name).write_text(text)
    Path("x.py").write_text("x = 1\n")
    commit("start")
    Path("x.py").write_text("x = 2\n")
    for source in (("-R", "."), (f"./{name}",)):
        done = cli("diff", "--from", "HEAD", *source)
        assert (done.code, "+    x = 2" in done.out) == (1, True), done.out + done.err


def test_with_r_a_file_is_no_directory(tree: Cli) -> None:
    """As `render -R` says."""
    for to in ((), ("--to", "HEAD")):
        result = tree("diff", "--from", "HEAD", *to, "-R", "apps/pi/app.yaml")
        assert (result.code, result.out) == (2, "")
        assert "apps/pi/app.yaml is not a directory" in result.err


def test_two_overlays_of_an_environment_are_named_as_the_caller_names_them(tree: Cli) -> None:
    """No path of a temporary folder."""
    for name in ("apps/environments/prod.yaml", "apps/environments/prod.yml"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("")
    commit()
    result = tree("diff", "--from", "HEAD", "--to", "HEAD", "-R", "apps")
    assert result.code == 2
    assert "sparkgen: apps/environments/prod.yaml and apps/environments/prod.yml are overlays" in result.err


def test_other_files_that_mention_sparkgen_are_no_problem(tree: Cli) -> None:
    """Found, as with render: their documents are somebody else's."""
    Path("apps/other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\ndata: {a: sparkgen.dev/x}\n")
    Path("apps/comment.yaml").write_text("# sparkgen.dev\n")
    commit()
    for source in (("-R", "apps"), ("apps",)):
        result = tree("diff", "--from", "HEAD~1", "--to", "HEAD", *source)
        assert (result.code, result.out) == (0, "")


def test_a_submodule_is_no_link(tree: Cli) -> None:
    """It has a mode of its own, and no files in this repository."""
    head = git("rev-parse", "HEAD")
    subprocess.run(["git", "update-index", "--add", "--cacheinfo", f"160000,{head},apps/module"], check=True)
    git("commit", "--quiet", "--message", "module")
    assert tree("diff", "--from", "HEAD~1", "--to", "HEAD", "-R", "apps").code == 0


def with_files(tree: Cli) -> None:
    """Commit a document with a script, a folder and a link to a module beside it, and no registry."""
    text = DOCUMENT.replace("local:///opt/spark/examples/src/main/python/pi.py", "./jobs/job.py")
    assert "./jobs/job.py" in text
    Path("apps/pi/app.yaml").write_text(f"{text}  deps: {{pyFiles: [./li*, ../shared]}}\n")
    for name in ("apps/pi/jobs/job.py", "apps/pi/lib/a.py", "apps/shared/b.py", "apps/shared/left/out.py"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(f"# {name}\n")
    Path(".sparkgenignore").write_text("left/\n")
    commit("files")


@pytest.mark.parametrize("changed", ["apps/pi/jobs/job.py", "apps/pi/lib/a.py", "apps/shared/b.py"])
def test_local_files_of_a_commit_are_those_of_the_commit(tree: Cli, changed: str) -> None:
    """Without a registry, no lock has their digests: they are read from Git at both points."""
    with_files(tree)
    diff = ("diff", "apps/pi/app.yaml", "--from")
    assert tree(*diff, "HEAD").code == 0
    Path("apps/shared/left/out.py").write_text("# more\n")
    assert tree(*diff, "HEAD").code == 0
    Path(changed).write_text(f"# {changed}\n# more\n")
    done = tree(*diff, "HEAD")
    assert (done.code, "+    # more" in done.out) == (1, True), done.out + done.err
    commit("more")
    assert tree(*diff, "HEAD~1", "--to", "HEAD").out == done.out
    assert tree(*diff, "HEAD").code == 0


def test_a_commit_with_files_that_cannot_be_read(tree: Cli) -> None:
    """An error of the earlier point is told, and the document counts as new; another one ends all."""
    with_files(tree)
    Path("apps/pi/lib/a.py").unlink()
    Path("apps/pi/lib/a.py").symlink_to("/etc/passwd")
    commit("a link out of the repository")
    outward = tree("diff", "apps/pi/app.yaml", "--from", "HEAD~1", "--to", "HEAD")
    assert (outward.code, "SG308" in outward.err) == (2, True)
    assert "root:" not in outward.out + outward.err
    Path("apps/pi/lib/a.py").unlink()
    Path("apps/pi/lib/a.py").write_text("A = 1\n")
    commit("a file again")
    back = tree("diff", "apps/pi/app.yaml", "--from", "HEAD~1", "--to", "HEAD")
    assert (back.code, "ignored in this revision" in back.err) == (1, True), back.out + back.err


def test_a_forged_lock_has_no_file_that_looks_like_sparkgens(tree: Cli) -> None:
    """The summary would be about the forged tuning; where the files are on disk, the lock differs anyway."""
    with_files(tree)
    assert tree("push", "apps/pi/app.yaml").code == 0
    lock = Path("apps/pi/app.lock.yaml")
    commit("a lock")
    assert tree("diff", "apps/pi/app.yaml", "--from", "HEAD~1", "--to", "HEAD").code in (0, 1)
    value = yaml.safe_load(lock.read_text())
    value["spec"]["artifacts"][0]["contents"]["data"]["tuning.json"] = "{}"
    lock.write_text(yaml.safe_dump(value))
    commit("forged")
    done = tree("diff", "apps/pi/app.yaml", "--from", "HEAD~1", "--to", "HEAD")
    assert done.code == 2
    assert (
        "the artifact `code` has the key tuning.json, by which sparkgen finds a file of its own" in done.err
    )


def _object(kind: str, data: bytes) -> str:
    """Write an object to Git, also one that it would refuse to make; returns its id."""
    command = ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().strip()


def _folder(*entries: tuple[str, str, str]) -> str:
    """Write a tree with these entries (mode, name, id), in their order."""
    return _object("tree", b"".join(f"{m} {n}".encode() + b"\0" + bytes.fromhex(i) for m, n, i in entries))


@pytest.mark.parametrize("named", ["app.yaml", "."])
def test_a_commit_writes_nothing_outside(tree: Cli, tmp_path: Path, named: str) -> None:
    """A link and a folder of one name, which git fetches: within a document, and from one to the next."""
    victim = tmp_path / "victim"
    victim.mkdir()
    old = "local:///opt/spark/examples/src/main/python/pi.py"
    one = DOCUMENT.replace(old, "./p/x.py") + "  deps: {pyFiles: [./p]}\n"
    two = DOCUMENT.replace(old, "./q/post-checkout").replace("name: pi", "name: two", 1)
    program, link = _object("blob", b"#!/bin/sh\n"), _object("blob", str(victim).encode())
    inner = _folder(("120000", "q", link))
    root = _folder(
        ("100644", "app.yaml", _object("blob", f"{one}---\n{two}".encode())),
        ("120000", "p", _object("blob", b".")),
        ("40000", "p", inner),
        ("120000", "q", link),
        ("40000", "q", _folder(("100755", "post-checkout", program))),
    )
    commit_id = git("commit-tree", root, "-p", "HEAD", "-m", "evil").strip()
    for options in (("--from", "HEAD", "--to", commit_id), ("--from", commit_id, "--to", "HEAD")):
        tree("diff", *options, named)
        assert list(victim.iterdir()) == []


def test_links_of_a_commit_lead_where_they_lead_in_the_work_tree(tree: Cli) -> None:
    """Also for two documents with the same folder, and to what no entry names."""
    with_files(tree)
    Path("apps/pi/kit").symlink_to("../shared")
    text = Path("apps/pi/app.yaml").read_text().replace("[./li*, ../shared]", "[./kit/b.py, ./kit]")
    Path("apps/pi/app.yaml").write_text(f"{text}---\n{text.replace('name: pi', 'name: two', 1)}")
    commit("a link")
    Path("apps/shared/b.py").write_text("# other\n")
    inside = tree("diff", "apps/pi/app.yaml", "--from", "HEAD")
    assert (inside.code, inside.out.count("# other") >= 2) == (1, True), inside.out + inside.err
    commit("more")
    assert tree("diff", "apps/pi/app.yaml", "--from", "HEAD~1", "--to", "HEAD").out == inside.out


@pytest.mark.parametrize("how", ["an escape", "--set"])
def test_a_local_file_is_seen_however_it_is_named(tree: Cli, how: str) -> None:
    """The bytes of the document need not have its path."""
    with_files(tree)
    path = Path("apps/pi/app.yaml")
    options: list[str] = []
    if how == "--set":
        path.write_text(DOCUMENT)
        options = ["--set", "spec.mainApplicationFile=./jobs/job.py"]
    else:
        path.write_text(
            path.read_text()
            .replace("./jobs/job.py", '".\\/jobs\\/job.py"')
            .replace("[./li*, ../shared]", "[]")
        )
    commit("named otherwise")
    Path("apps/pi/jobs/job.py").write_text("# other\n")
    commit("other code")
    done = tree("diff", "apps/pi/app.yaml", "--from", "HEAD~1", "--to", "HEAD", *options)
    assert (done.code, "# other" in done.out) == (1, True), done.out + done.err


@pytest.mark.parametrize("file", ["../.env", "./data.txt", "./new.py", "./ignored-*.json"])
@pytest.mark.parametrize(
    "command",
    [["render"], ["render", "-o", "out", "--check"], ["diff", "--from", "HEAD"], ["lint"], ["validate"]],
)
def test_manifests_show_only_what_git_has(tree: Cli, command: list[str], file: str) -> None:
    """A private file of the checkout, whoever names it and whoever allows it, also behind a link."""
    with_files(tree)
    Path(".gitignore").write_text(".env\n*.local\nignored-*\n")
    Path(".sparkgenignore").write_text("!/apps/.env\n")
    Path("apps/pi/data.txt").symlink_to("cfg.local")
    text = Path("apps/pi/app.yaml").read_text()
    Path("apps/pi/app.yaml").write_text(text.replace("[./li*, ../shared]", "[./lib]") + "")
    commit("everything")
    for name in ("apps/.env", "apps/pi/cfg.local", "apps/pi/new.py", "apps/pi/ignored-key.json"):
        Path(name).write_text("WORD=hunter2\n")
    own = Path("apps/pi/app.yaml")
    own.write_text(own.read_text().replace("pyFiles: [./lib]", f'pyFiles: [./lib], files: ["{file}"]'))
    name, *options = command
    done = tree(name, str(own), *options)
    assert "hunter2" not in done.out + done.err
    assert done.code in (1, 2)
    assert "is not in Git" in done.out + done.err or "secret" in done.out + done.err


def test_git_is_not_asked_for_files_that_no_config_map_can_hold(
    tree: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be thousands, and large; the message is the same."""
    with_files(tree)
    Path("apps/pi/lib/big.bin").write_bytes(b"x" * (900 << 10))
    monkeypatch.setattr(local_files, "git_files", None)
    done = tree("validate", "apps/pi/app.yaml")
    assert done.code == 1
    assert "that fit into a ConfigMap; the largest is lib/big.bin" in " ".join(done.out.split())


def test_a_file_that_git_has_may_be_changed(tree: Cli) -> None:
    """Work on a script needs no commit for each run."""
    with_files(tree)
    Path("apps/pi/jobs/job.py").write_text("# changed\n")
    done = tree("render", "apps/pi/app.yaml")
    assert (done.code, "# changed" in done.out) == (0, True), done.err


def test_code_without_text_can_be_linted(tree: Cli) -> None:
    """A jar is in `binaryData`, and its ConfigMap has no `data`."""
    old = "local:///opt/spark/examples/src/main/python/pi.py"
    text = DOCUMENT.replace(old, "./job.jar").replace("type: Python", "type: Scala\n  mainClass: a.B")
    Path("apps/pi/app.yaml").write_text(text)
    Path("apps/pi/job.jar").write_bytes(b"PK\0\1\xff")
    commit("a jar")
    done = tree("lint", "apps/pi/app.yaml")
    assert done.code in (0, 1), done.out + done.err
    assert "internal error" not in done.err
