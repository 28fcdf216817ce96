"""What mkdocs is told beside mkdocs.yml: files outside docs/ that pages link to are pages of the site, too.

The site then needs no copy of the repository on the network, and no link leads out of it by accident.
mkdocs calls these functions by their names; they need the extra `docs`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # mkdocs knows this file alone

from docs import check as docs_check
from docs import links as docs_links
from docs import messages as docs_messages
from docs import pages as docs_pages

LOG = get_plugin_logger("docs_hook")
COMMONMARK = MarkdownIt("commonmark").enable("table")
ROOT = Path(__file__).resolve().parents[2]
MESSAGES = "reference/messages.md"
"""A page of the site alone: in Git it would change with every message."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings have the anchors that they have on GitHub."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = docs_links.slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file and folder outside docs/ that a page leads to, directly or by another."""
    for path in docs_pages.outside(ROOT):
        place, text = docs_links.source(path, ROOT), docs_pages.page(path, ROOT)
        files.append(File.generated(config, place, content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    texts = docs_messages.page(docs_messages.messages(ROOT))
    files.append(File.generated(config, MESSAGES, content=texts, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Links that lead out of docs/ lead to those pages."""
    path = docs_links.origin(page.file.src_uri, ROOT)
    return docs_links.relinked(markdown, lambda link: docs_links.for_site(path, link, ROOT))


def on_page_content(html: str, *, page: Page, **_: object) -> str:
    """Refuse a page that GitHub shows otherwise; let paths and long names in tables break between parts.

    mkdocs reads Markdown by older rules than GitHub: a list needs an empty line before it, for instance.
    """
    other = docs_check.other_shape(html, COMMONMARK.render(page.markdown or ""))
    if other:
        LOG.warning("%s looks different from GitHub: %s", page.file.src_uri, other)
    return re.sub(r"(?s)<(t[dh])\b.*?</\1>", lambda cell: _breakable(cell[0]), html)


def _breakable(cell: str) -> str:
    between = re.compile(r"(?<=\w[./_:])(?=\w)|(?<=[a-z])(?=[A-Z])")
    return re.sub(r"(?s)(?<=<code>).*?(?=</code>)", lambda code: between.sub("<wbr>", code[0]), cell)
