"""The list of Spark's properties: the parts of the tool that need no Spark."""

from __future__ import annotations

import struct

from spark import classfile, properties
from sparkgen.properties.known import DATA, Known, known


def class_file(*constants: bytes) -> bytes:
    """The beginning of a class file with these constants."""
    places = sum(2 if constant[0] in (5, 6) else 1 for constant in constants)
    return struct.pack(">IIH", 0xCAFEBABE, 61, places + 1) + b"".join(constants)


def utf8(text: str) -> bytes:
    """A text as a constant."""
    return struct.pack(">BH", 1, len(text)) + text.encode()


def test_the_constants_of_a_class() -> None:
    """Texts and references to members; a long takes two places."""
    data = class_file(
        utf8("spark.x"),  # 1
        struct.pack(">BH", 8, 1),  # 2: a text
        struct.pack(">Bq", 5, 7),  # 3 and 4: a long
        utf8("org/a/B$"),  # 5
        struct.pack(">BH", 7, 5),  # 6: a class
        utf8("KEY"),  # 7
        utf8("()V"),  # 8
        struct.pack(">BHH", 12, 7, 8),  # 9: name and type
        struct.pack(">BHH", 10, 6, 9),  # 10: a method
        utf8("org/a/Plugin"),  # 11
        struct.pack(">BH", 7, 11),  # 12: an interface
    )
    found = classfile.constants(data + struct.pack(">HHHHH", 33, 6, 0, 1, 12))
    texts, references = frozenset({"spark.x"}), frozenset({("org/a/B$", "KEY")})
    assert found == classfile.Constants("org/a/B$", frozenset({"org/a/Plugin"}), texts, references)


def test_older_names_have_spark_s_order() -> None:
    """SparkConf's own table is asked before the entry; values that Spark translates stay with Spark."""
    lines = [
        "entry\to.A$.X\tspark.x\t3.1.0\tspark.entry,spark.both",
        "older\tspark.x\tspark.both\tfalse",
        "older\tspark.x\tspark.second\tfalse",
        "older\tspark.y\tspark.y.mb\ttrue",
    ]
    found = properties._parsed(lines)
    assert found.members == {"o.A$.X": "spark.x"}
    assert found.since == {"spark.x": "3.1.0"}
    assert found.older == {"spark.x": ("spark.both", "spark.second", "spark.entry")}


def test_an_older_name_that_one_spark_does_not_know_is_left_to_spark() -> None:
    """4.3.0 no longer reads spark.blacklist.*, and 3.5.8 does not know every new name."""
    old = Known("spark.x", "1.0.0", ("3.5.8",), ("submit",), ("spark.a", "spark.b"))
    new = Known("spark.x", "1.0.0", ("4.3.0",), (), ("spark.b",))
    both = Known("spark.x", "1.0.0", ("3.5.8", "4.3.0"), ("submit",), ("spark.b",))
    assert properties._joined([old, new], 2) == both
    assert properties._joined([new], 2).older == ()


def test_the_file_is_what_the_tool_writes() -> None:
    """Reading and writing are inverse, and the names are sorted."""
    assert DATA.read_text("utf-8") == properties.text_of(known().values())
    assert list(known()) == sorted(known())
