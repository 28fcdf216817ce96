"""What mkdocs is told beside mkdocs.yml: files outside docs/ that pages link to are pages of the site, too.

The site then needs no copy of the repository on the network, and no link leads out of it by accident.
mkdocs calls these functions by their names; they need the extra `docs`.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

import docs_links
import docs_pages

ROOT = Path(__file__).resolve().parents[1]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings have the anchors that they have on GitHub."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = docs_links.slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file and folder outside docs/ that a page leads to, directly or by another."""
    for path in docs_pages.outside(ROOT):
        place, text = docs_links.source(path, ROOT), docs_pages.page(path, ROOT)
        files.append(File.generated(config, place, content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Links that lead out of docs/ lead to those pages."""
    path = docs_links.origin(page.file.src_uri, ROOT)
    return docs_links.relinked(markdown, lambda link: docs_links.for_site(path, link, ROOT))
