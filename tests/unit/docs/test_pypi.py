"""The README on PyPI, where no file is beside it."""

from __future__ import annotations

import re
from pathlib import Path

from docs import links
from docs.pypi import long_description

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text("utf-8")
SOURCE = "https://github.com/example/sparkgen"


def test_without_an_address_no_link_leads_nowhere() -> None:
    """Links to pages become text, links to other sites stay, and the picture is left out."""
    text = long_description(README + "\n[Spark](https://spark.apache.org/)\n")
    assert [link.target for link in links.links(text)] == ["https://spark.apache.org/"]
    assert "![" not in text
    assert "step by step with the output of each command" in text


def test_with_an_address_links_lead_to_the_files_of_that_version() -> None:
    """At its tag; with a heading, if they have one."""
    text = long_description(README + "\n[a](docs/README.md#try-it)\n", SOURCE, "v1.2.3")
    found = re.findall(r"\]\(([^)]*)\)", text)
    assert f"{SOURCE}/blob/v1.2.3/docs/README.md#try-it" in found
    paths = [one.removeprefix(f"{SOURCE}/blob/v1.2.3/").partition("#")[0] for one in found]
    assert [one for one in paths if not (ROOT / one).exists()] == []
