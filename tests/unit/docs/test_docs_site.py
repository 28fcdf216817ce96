"""The documentation's site: its navigation, its pages outside docs/, and the check of what was built.

`make docs` builds the site itself; what stands here needs no extra.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from common.cachedir import ToolError
from docs import check as docs_check
from docs import links as docs_links
from docs import pages as docs_pages

ROOT = Path(__file__).resolve().parents[3]


def in_navigation(entry: Any) -> Iterator[str]:
    """The pages of an entry of mkdocs.yml's `nav`, and of those below it."""
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from in_navigation(below)


def repository(folder: Path, **files: str) -> Path:
    """A repository with these files; `__` in a name is a slash, and `_` a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_every_page_stands_in_the_navigation_once() -> None:
    """A page that is in no menu is not found, and one that is in two belongs nowhere."""
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    shown = [path for path in in_navigation(navigation) if not path.startswith(docs_links.OUTSIDE)]
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(shown) == sorted(pages)


def test_what_the_navigation_shows_from_outside_docs_is_linked_to() -> None:
    """Only such files become pages: an entry without one would be a dead link of the menu."""
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    outside = {docs_links.source(path, ROOT) for path in docs_pages.outside(ROOT)}
    assert {path for path in in_navigation(navigation) if path.startswith(docs_links.OUTSIDE)} <= outside


@pytest.mark.parametrize("path", ["docs/README.md", "docs/design/yaml.md", "README.md", "action.yml"])
def test_a_page_of_the_site_knows_its_file(path: str) -> None:
    """Links of a page are resolved where its file stands in the repository."""
    assert docs_links.origin(docs_links.source(path, ROOT), ROOT) == path


@pytest.mark.parametrize(
    ("page", "target", "on_site"),
    [
        ("docs/gitops.md", "design/contract.md", "design/contract.md"),
        ("docs/gitops.md", "../README.md", "repository/README.md"),
        ("docs/design/yaml.md", "../../action.yml", "../repository/action.yml.md"),
        ("docs/secrets.md", "../examples/gitops/argocd", "repository/examples/gitops/argocd/README.md"),
        ("README.md", "docs/gitops.md", "../gitops.md"),
        ("README.md", "docs", "../README.md"),
        ("examples/README.md", "../docs/ci.md", "../../ci.md"),
    ],
)
def test_links_between_files_are_links_between_pages(page: str, target: str, on_site: str) -> None:
    """Pages outside docs/ stand below a folder of their own, files and folders as pages that show them."""
    assert docs_links.for_site(page, docs_links.Link(target, "#here"), ROOT) == on_site + "#here"


def test_links_in_code_are_no_links() -> None:
    """What a page shows literally stays as it is."""
    text = "[a](x.md) `[b](x.md)`\n\n```md\n[c](x.md)\n```\n\n[d](#x) [e](https://example.org/#x)\n"
    found = list(docs_links.links(text))
    assert [(link.target, link.anchor) for link in found] == [
        ("x.md", ""),
        ("", "#x"),
        ("https://example.org/", "#x"),
    ]
    assert docs_links.relinked(text, lambda link: "y.md") == (
        "[a](y.md) `[b](x.md)`\n\n```md\n[c](x.md)\n```\n\n[d](y.md) [e](y.md)\n"
    )


def test_headings_have_the_anchors_of_github() -> None:
    """Punctuation goes, no two hyphens become one, and a second heading of a name is counted."""
    text = "# An `--set` that, *so*\n\n```sh\n# no heading\n```\n\n## [Lint](lint.md)\n\n## Lint\n"
    assert docs_links.anchors(text) == {"an---set-that-so", "lint", "lint-1"}


def test_pages_outside_docs_are_found_from_page_to_page(tmp_path: Path) -> None:
    """A file that a linked file links to is there as well, and one that nobody links to is not."""
    root = repository(
        tmp_path,
        docs__a_md="[readme](../README.md)",
        README_md="[example](examples/pi/) [a](docs/a.md) [gone](gone.md)",
        examples__pi__app_yaml="kind: SparkApplication",
        examples__other__app_yaml="kind: SparkApplication",
    )
    assert docs_pages.outside(root) == ["README.md", "examples/pi/README.md", "examples/pi/app.yaml"]
    assert docs_pages.page("examples/pi/README.md", root) == "# examples/pi\n\n- [app.yaml](app.yaml)\n"


def test_a_file_is_shown_as_code(tmp_path: Path) -> None:
    """An example is followed by what stands beside it; other files are left out of the search."""
    root = repository(tmp_path, examples__pi__app_yaml="a: 1\n", examples__pi__prod_yaml="a: 2\n", x_py="1\n")
    shown = docs_pages.page("examples/pi/app.yaml", root)
    assert shown == (
        "# examples/pi/app.yaml\n\n````yaml\na: 1\n````\n\nIn the same folder:\n\n- [prod.yaml](prod.yaml)\n"
        "\n[All examples](../README.md)\n"
    )
    assert docs_pages.page("x.py", root).startswith("---\nsearch:\n  exclude: true\n---\n# x.py\n")


def test_a_file_that_would_break_its_block_is_refused(tmp_path: Path) -> None:
    """It would be shown in part."""
    with pytest.raises(ToolError, match=r"x\.py"):
        docs_pages.page("x.py", repository(tmp_path, x_py="'````'"))


def test_dead_links_and_foreign_things_are_found(tmp_path: Path) -> None:
    """In pages and in styles; a link for the reader to follow may lead anywhere."""
    site = repository(
        tmp_path,
        a_html='<a href="https://example.org">x</a> <a href="b.html#there">x</a> <h1 id="here"></h1>'
        '<a href="#here">x</a> <a href="b.html#gone">x</a> <a href="gone.html">x</a>'
        '<script src="https://cdn.example.org/m.js"></script> <img src="data:image/png;base64,">',
        b_html='<p id="there"><link rel="stylesheet" href="s.css">',
        s_css='@import "t.css"; a { background: url(https://example.org/f.woff) url("a.html") }',
    )
    assert docs_check.problems(site) == [
        "a.html: <script> fetches https://cdn.example.org/m.js from another site",
        "a.html: b.html#gone leads to no heading",
        "a.html: gone.html leads to no file",
        "s.css: https://example.org/f.woff is not on this site",
        "s.css: t.css is not on this site",
    ]


def test_a_list_that_was_read_as_text_is_found() -> None:
    """What mkdocs makes of a page is compared with what GitHub makes of it, by what can be counted."""
    assert docs_check.other_shape("<p>a\n- b\n- c</p>", "<p>a</p><ul><li>b</li><li>c</li></ul>") == (
        "0 <li>, not 2, 0 <ul>, not 1"
    )
    assert docs_check.other_shape('<h2 id="a">a</h2>', "<h2>a</h2>") == ""


@pytest.mark.parametrize(
    "drawing", sorted((ROOT / "docs" / "assets").glob("*.svg")), ids=lambda path: path.name
)
def test_a_drawing_fetches_nothing(drawing: Path) -> None:
    """It is shown as it is, on GitHub and on the site."""
    text = drawing.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?:|@import|@font-face|<image", text) == []
