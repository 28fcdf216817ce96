"""docs/reference/rules.md is made of the rules' pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from sparkgen import semantics

PAGES = Path(semantics.__file__).parent / "pages"
REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "rules.md"

HEAD = """\
# Rules

On this page you look up what each rule of `sparkgen validate` finds, and why.
`sparkgen rule CODE` prints the same.

An **error** stops a render: the Kubernetes API server or Spark would refuse the value, or silently ignore it.
You can ignore a **warning** with a comment and a reason:

```yaml
# sparkgen: ignore SG188 -- applied by hand, no GitOps here
timeToLiveSeconds: 86400
```

SG0 codes are about the text and the form of a document, and SG1 and SG3 codes about its meaning.

| Code | | What it finds |
|---|---|---|
"""


def deepened(page: str) -> str:
    """A page with its headings one level deeper; lines of examples that start with # are none."""
    parts = re.split(r"(^```.*?^```$)", page, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE) for text in parts[::2]]
    return "".join(parts)


def reference() -> str:
    """The text of the reference: a table, and then every page with its headings one level deeper."""
    rows, sections = [], []
    for path in sorted(PAGES.glob("SG*.md")):
        page = path.read_text(encoding="utf-8")
        title = page.partition("\n")[0].removeprefix(f"# {path.stem}: ")
        severity = re.search(r"^\*\*(Error|Warning)\.\*\*", page, re.MULTILINE)
        assert severity, f"{path.name} does not say whether it is an error"
        anchor = re.sub(r"[^a-z0-9 _-]", "", f"{path.stem}: {title}".lower()).replace(" ", "-")
        rows.append(f"| [{path.stem}](#{anchor}) | {severity[1].lower()} | {title} |\n")
        sections.append("\n" + deepened(page))
    return HEAD + "".join(rows) + "".join(sections)


def test_the_reference_is_made_of_the_pages(golden: Callable[[Path, str], None]) -> None:
    """A page that changes without the reference would make two documentations."""
    golden(REFERENCE, reference())
