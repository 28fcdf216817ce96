"""Files of Spark's configuration folder: how large they may be, and what looks like a secret in them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.rules_conffiles import APPLIED, LARGEST, files, unread_files
from sparkgen.semantics.secret import holds_secret, is_secret


def facts(**texts: Any) -> DocumentFacts:
    """A document with these files."""
    spec = {"type": "Python", "sparkVersion": "3.5.8", "image": "x", "sparkConfFiles": texts}
    return DocumentFacts.of({"kind": "SparkApplication", "metadata": {"name": "x"}, "spec": spec})


@pytest.mark.parametrize(
    ("size", "refused", "warned"),
    [(APPLIED, 0, 0), (APPLIED + 1, 0, 1), (LARGEST, 0, 1), (LARGEST + 1, 1, 0)],
)
def test_sizes_are_bytes_of_all_texts_together(size: int, refused: int, warned: int) -> None:
    """A letter of two bytes counts two; what stands in another object counts nothing."""
    texts = {"a.xml": "é" * 50_000, "b.xml": "x" * (size - 100_000)}
    found = facts(**texts, c={"configMapKeyRef": {"name": "c", "key": "c"}})
    assert (len(list(files.check(found))), len(list(unread_files.check(found)))) == (refused, warned)


@pytest.mark.parametrize(
    "text",
    [
        "<property><name>javax.jdo.option.ConnectionPassword</name><value>hunter22</value></property>",
        "<name>\n  fs.s3a.secret.key\n</name>\n<!-- ours -->\n<value>wJalrXUtnFEMI</value>",
        "ldap.bind.password = hunter22",
        "ldap.bind.password: hunter22\n",
        "ldap.bind.password hunter22",
        "url=jdbc:postgresql://etl:hunter22@db/hive",
        "-----BEGIN RSA PRIVATE KEY-----",
        "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI",
    ],
)
def test_secrets_are_seen_in_any_form(text: str) -> None:
    """Hadoop's XML, Java's properties in their three spellings, URLs, keys, a shell's variables."""
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "<allocations><pool name='secret-reports'><weight>2</weight></pool></allocations>",
        "<name>hadoop.security.credential.provider.path</name><value>jceks://file/etc/hive.jceks</value>",
        "<name>javax.jdo.option.ConnectionPassword</name><value>${env.HIVE_PASSWORD}</value>",
        "ldap.bind.password = ${env:LDAP_PASSWORD}",
        "# the password is in a Secret\n",
        "",
    ],
)
def test_what_only_names_a_secret_is_none(text: str) -> None:
    """References, paths, comments."""
    assert not holds_secret(text)


def test_a_hostile_text_is_read_in_linear_time() -> None:
    """Openings without ends, blanks without words, class names in a row: CPU seconds, and not minutes."""
    began = time.process_time()
    for text in (
        "<name>" * 150_000,
        " " * 900_000,
        "a " * 450_000,
        "<name>a</name><!--" * 50_000,
        "<name>a</name>" * 60_000 + "<value>",
        "<name>a</name><value>" * 40_000,
        "<name>a</name>" * 60_000 + "<value>b</value>",
        "<name>password</name><value>" + "a." * 400_000 + "</value>",
    ):
        assert not holds_secret(text)
    assert not is_secret("password", "a." * 500_000 + "!")
    assert time.process_time() - began < 20
