"""The documentation is held to what the tool does: documents, links, outputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import links as docs_links

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "charts/**/*.md", "docs/**/*.md", "examples/**/*.md", "monitoring/*.md")
    for path in ROOT.glob(pattern)
)
RULES = "docs/reference/rules.md"
"""Shows bad documents on purpose; its own tests hold it."""
MISTAKE = r"A mistake looks like this.*?```yaml\n(.*?)```.*?```text\n(.*?)```"
SPARKGEN = Path(sys.executable).with_name("sparkgen")


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line as a user runs it, without colour."""
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [str(SPARKGEN), *arguments], cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings_that_are_there(page: str) -> None:
    """A link to a file or a heading of the repository that is not there is a dead end for a reader."""
    dead = []
    for link in docs_links.links((ROOT / page).read_text(encoding="utf-8")):
        target = ROOT / docs_links.resolved(page, link.target)
        if link.leaves:
            continue
        if not target.exists():
            dead.append(link.target)
        elif link.anchor and link.anchor[1:] not in docs_links.anchors(target.read_text(encoding="utf-8")):
            dead.append(link.target + link.anchor)
    assert dead == []


def whole_documents(page: str) -> list[str]:
    """The documents of a page that claim to be right and whole."""
    wrong = re.search(MISTAKE, (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    return [
        text
        for text in blocks(page, "yaml")
        if text.startswith("apiVersion: sparkgen.dev/") and "\nspec:" in text
        if wrong is None or text != wrong[1]
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if page != RULES])
def test_whole_documents_on_a_page_are_valid(page: str, tmp_path: Path) -> None:
    """A reader who copies a whole document from a page has one that works."""
    for index, text in enumerate(whole_documents(page)):
        name = f"app-{index}.yaml"
        (tmp_path / name).write_text(text, encoding="utf-8")
        local = make_local_files(text, tmp_path)
        result = run("validate", name, cwd=tmp_path)
        said = result.stdout + result.stderr
        if local and "  delivery:" in text:  # all that is missing is the push
            assert set(re.findall(r"error\[(\w+)\]", said)) == {"SG306"}, said
        else:
            assert (result.returncode, said) == (0, said)


def make_local_files(text: str, folder: Path) -> bool:
    """Make the files that a document names beside it; whether it names any."""
    found = re.findall(r"[ \[](\./[\w./-]+)", text)
    for entry in found:
        path = folder / entry if Path(entry).suffix else folder / entry / "module.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("six==1.17.0\n" if path.suffix == ".txt" else "")
    return bool(found)


def test_the_mistake_in_the_readme_is_what_the_tool_prints(tmp_path: Path) -> None:
    """The README shows a real message: the last block after the words that announce it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(MISTAKE, text, flags=re.DOTALL)
    assert found is not None
    document, shown = found.groups()
    (tmp_path / "app.yaml").write_text(document, encoding="utf-8")
    result = run("validate", "app.yaml", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout == shown


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_downloads_to_verify_runs_no_code(page: str) -> None:
    """`pip download` builds a package that has no wheel, and so runs its code."""
    lines = re.findall(r"pip download .*", (ROOT / page).read_text(encoding="utf-8"))
    assert [line for line in lines if "--only-binary=:all:" not in line] == []
