"""Files read back as what they were written from, by readers written from the formats' own definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.resources.text import hadoop_xml, properties_text, property_key, property_value

BLANK = " \t\f"
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def logical_lines(text: str) -> Iterator[str]:
    """Lines as java.util.Properties joins them: without comments and blank lines, continuations appended."""
    pending = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        part = line.lstrip(BLANK)
        if not pending and (not part or part[0] in "#!"):
            continue
        pending += part
        trailing = len(pending) - len(pending.rstrip("\\"))
        if trailing % 2:
            pending = pending[:-1]
            continue
        yield pending
        pending = ""


def key_end(line: str) -> int:
    """Where the key stops: at the first separator that no backslash escapes."""
    position = 0
    while position < len(line) and line[position] not in "=:" + BLANK:
        position += 2 if line[position] == "\\" else 1
    return min(position, len(line))


def unescaped(text: str) -> str:
    """The text with backslash escapes resolved."""
    result, position = "", 0
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text):
            position += 1
            char = text[position]
            if char == "u":
                char, position = chr(int(text[position + 1 : position + 5], 16)), position + 4
            else:
                char = ESCAPES.get(char, char)
        result, position = result + char, position + 1
    return result


def read_properties(text: str) -> dict[str, str]:
    """A small java.util.Properties (its `load(Reader)`), from the documentation of that method."""
    result = {}
    for line in logical_lines(text):
        end = key_end(line)
        rest = line[end:].lstrip(BLANK)
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(BLANK)
        result[unescaped(line[:end])] = unescaped(rest)
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\n", {"a": "b"}),
        ("a=b\nc:d\n", {"a": "b", "c": "d"}),
        ("# no\n! no\n\n  a   =  b  \n", {"a": "b  "}),
        ("a\\ b c\\\n   d\n", {"a b": "cd"}),
        ("a \\u00e9\\t\\\\\n", {"a": "\u00e9\t\\"}),
        ("key\n", {"key": ""}),
    ],
)
def test_the_reader_reads_as_java_does(text: str, expected: dict[str, str]) -> None:
    """The reader of these tests is right about the cases that java.util.Properties documents."""
    assert read_properties(text) == expected


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30) | st.text(" \\\t\n\r\f#!=:a${}%'\"", max_size=12)


@given(st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=6))
def test_properties_read_back(properties: dict[str, str]) -> None:
    """Whatever keys and values a document has, Spark reads exactly them."""
    text = properties_text(properties.items())
    assert read_properties(text) == properties
    assert text.count("\n") == len(properties)


@given(TEXTS)
def test_one_property_is_one_line(text: str) -> None:
    """No value breaks out of its line, whatever it holds."""
    assert not set("\n\r") & set(property_value(text) + property_key(text))


XML_TEXTS = st.text(
    st.characters(
        codec="utf-8", min_codepoint=32, exclude_characters="\ufffe\uffff", include_characters="\t\n\r"
    ),
    max_size=30,
)


@given(st.dictionaries(XML_TEXTS, XML_TEXTS, max_size=4))
def test_hadoop_conf_reads_back(hadoop: dict[str, str]) -> None:
    """Names and values of hadoopConf survive XML."""
    root = ElementTree.fromstring(hadoop_xml(hadoop))  # noqa: S314 - our own
    found = {item.findtext("name") or "": item.findtext("value") or "" for item in root.iter("property")}
    assert found == hadoop


def test_log_levels(rendered: Callable[..., Any]) -> None:
    """The root's level and each logger's own, sorted by name."""
    logging = {"level": "WARN", "loggers": {"org.b": "DEBUG", "org.a": "OFF"}}
    text = rendered(logging=logging).config_map("conf")["data"]["log4j2.properties"]
    lines = dict(line.split(" = ") for line in text.splitlines() if line)
    assert lines["rootLogger.level"] == "warn"
    assert (lines["logger.l1.name"], lines["logger.l1.level"]) == ("org.a", "off")
    assert (lines["logger.l2.name"], lines["logger.l2.level"]) == ("org.b", "debug")
    assert lines["appender.console.target"] == "SYSTEM_ERR"


def test_metrics_are_prometheus_by_default_and_replaced_whole(rendered: Callable[..., Any]) -> None:
    """Without a text of one's own there is the servlet for Prometheus."""
    default = rendered().config_map("conf")["data"]["metrics.properties"]
    assert read_properties(default)["*.sink.prometheusServlet.path"] == "/metrics/prometheus"
    own = rendered(monitoring={"metricsProperties": "a=b"}).config_map("conf")["data"]["metrics.properties"]
    assert own == "a=b"
