"""docs/reference/rules.md is made of the rules' pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from sparkgen.cli.rule import rules

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
    for code, rule in rules().items():
        if code[2] == "2":
            continue
        severity = re.search(r"^\*\*(Error|Warning)\.\*\*", rule.page, re.MULTILINE)
        assert severity, f"the page of {code} does not say whether it is an error"
        anchor = re.sub(r"[^a-z0-9 _-]", "", f"{code}: {rule.title}".lower()).replace(" ", "-")
        rows.append(f"| [{code}](#{anchor}) | {severity[1].lower()} | {rule.title} |\n")
        sections.append("\n" + deepened(rule.page))
    return HEAD + "".join(rows) + "".join(sections)


def test_the_reference_is_made_of_the_pages(golden: Callable[[Path, str], None]) -> None:
    """A page that changes without the reference would make two documentations."""
    golden(REFERENCE, reference())
