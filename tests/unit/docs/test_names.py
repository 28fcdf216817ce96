"""Pages and examples name the public home as release.toml does."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from release import names
from sparkgen import __version__

ROOT = Path(__file__).resolve().parents[3]
NAMES = names.read()
PATH = NAMES.repository.partition("://")[2].partition("/")[2]
"""OWNER/sparkgen, as the action, pre-commit and GitLab name the repository."""
WRITTEN = {
    "SECURITY.md": [NAMES.security],
    "docs/verify.md": [
        *(f"--certificate-oidc-issuer={NAMES.issuer}", '="' + NAMES.identity("$VERSION"), NAMES.index),
        *(
            f"{NAMES.repository}/releases/download/v$VERSION/",
            f"REGISTRY={NAMES.registry}\n",
            f"VERSION={__version__}\n",
        ),
    ],
    "action.yml": [f"`uses: {PATH}@"],
    "examples/ci/github-workflow.yml": [f"uses: {PATH}@"],
    "examples/ci/gitlab-ci.yml": [f"/{PATH} "],
    "examples/ci/pre-commit-config.yaml": [f"repo: {NAMES.repository} "],
}
"""Each file with a name of the public home -> what it has of these names."""


@pytest.mark.parametrize(("file", "wanted"), WRITTEN.items(), ids=list(WRITTEN))
def test_a_file_has_the_names_of_release_toml(file: str, wanted: list[str]) -> None:
    """If you fill in a name there, this lists the files to change."""
    text = (ROOT / file).read_text("utf-8")
    assert [name for name in wanted if name not in text] == []


def test_no_other_file_has_a_name_to_fill_in() -> None:
    """Else it would keep OWNER when release.toml is filled in."""
    listed = ["git", "-C", str(ROOT), "grep", "-lE", rf"\b{names.PLACEHOLDER}\b"]
    done = subprocess.run([*listed, "--", ":!tests", ":!tools"], capture_output=True, text=True, check=False)
    found = {file for file in done.stdout.split() if not re.search(r"(changelog|release\.toml)", file, re.I)}
    assert found <= set(WRITTEN)
