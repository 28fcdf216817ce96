"""What docstrings name exists: a name that code no longer has is found with its line."""

from __future__ import annotations

import pytest

from docs import docstrings

MODULE = '''"""About `{name}`."""

import json

LIMIT = 1


class Base:
    """A base."""

    old_size: int = 0


class PageReader(Base):
    """Reads pages."""

    def read_page(self, page_size: int) -> str:
        return json.dumps({{"maxPages": page_size, "spark.app.name": self._path}})
'''
OTHER = {
    "schemas/a.json": '{"spec": {"runtime": {"imageName": 1}}}',
    "docs/page.md": "",
    "src/Agent.scala": "ListenerBus",
}


@pytest.mark.parametrize(
    "name",
    [
        *("PageReader", "read_page", "page_size", "_path", "PageReader.read_page", "PageReader.old_size"),
        *(
            "read_page()",
            "PageReader.read_page(page_size)",
            "json.dumps",
            "json.dumps(indent=2)",
            "str.isdigit",
        ),
        *(
            "maxPages",
            "spark.app.name",
            "spec.runtime.imageName",
            "ListenerBus",
            "app/pages.py",
            "pages.LIMIT",
        ),
        *("pages.py", "docs/page.md", "app.pages", "ExecutorExitCode", "free words", "word", "--an_option"),
    ],
)
def test_what_exists(name: str) -> None:
    """In the module, as a member, in what is installed, in texts and schemas of the project, or as a file."""
    assert docstrings.unknown({"app/pages.py": MODULE.format(name=name)}, OTHER) == []


@pytest.mark.parametrize(
    "name",
    [
        *("PageWriter", "write_page", "_gone", "PageReader.write_page", "pages.MOST", "write_page()"),
        *("json.dump_all", "str.is_digit", "minPages", "spark.app.title", "spec.runtime.imageTag"),
        *("app/lines.py", "docs/gone.md", "app.lines", "PageReader.read_page.gone"),
    ],
)
def test_what_does_not_exist(name: str) -> None:
    """Under one and under two backticks, with its line."""
    for ticks in ("`", "``"):
        text = MODULE.format(name="word").replace("Reads pages.", f"Reads.\n\n    By {ticks}{name}{ticks}.")
        found = docstrings.unknown({"app/pages.py": text}, OTHER)
        assert found == [docstrings.Mention("app/pages.py", 17, name)]


def test_a_private_name_exists_in_its_own_module_only() -> None:
    """What another module keeps to itself is no help to a reader."""
    sources = {"a.py": '"""Like `_hidden`."""', "b.py": "def _hidden(): ...\ndef open_door(): ..."}
    assert [one.name for one in docstrings.unknown(sources, {})] == ["_hidden"]
    assert docstrings.unknown({**sources, "a.py": '"""Like `open_door`."""'}, {}) == []


def test_docstrings_of_the_project_name_only_what_exists() -> None:
    """Of the product and of its tools."""
    sources, other = docstrings.sources()
    found = docstrings.unknown(sources, other)
    assert found == [], "\n".join(map(str, found))
    everything = "".join(sources.values())
    unused = [name for name in docstrings.ELSEWHERE if f"`{name}`" not in everything]
    assert unused == [], "an exception that nothing needs any more"
