"""Memory, CPU, quantities and factors: what Spark and Kubernetes read, and why the rest is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sparkgen.grammar import GrammarError, cpu, factor, memory, quantity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512m", 512 * 2**20),
        ("4g", 4 * 2**30),
        ("4G", 4 * 2**30),
        ("4gb", 4 * 2**30),
        (" 4g\t", 4 * 2**30),
        ("007k", 7 * 2**10),
        ("1t", 2**40),
        ("2pb", 2 * 2**50),
        ("100", 100),
        ("5b", 5),
    ],
)
def test_spark_reads_sizes_in_powers_of_1024(text: str, expected: int) -> None:
    """JavaUtils.byteStringAs: the case of the unit and blanks around the text do not matter."""
    assert memory.to_bytes(text) == expected


def test_a_number_without_a_unit_counts_in_the_unit_of_its_setting() -> None:
    """spark.executor.memoryOverhead counts in MiB, spark.memory.offHeap.size in bytes."""
    assert (memory.to_mib("384"), memory.to_mib("1073741824", default_unit="b")) == (384, 1024)


def test_mebibytes_are_rounded_down() -> None:
    """ByteUnit.convertFrom divides whole numbers."""
    assert memory.to_mib("2047k") == 1


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        ("4Gi", 'has the Kubernetes unit "Gi"; Spark uses "g"', "4g"),
        ("4GiB", 'has the Kubernetes unit "GiB"; Spark uses "g"', "4g"),
        ("4 GB", "has a space before the unit", "4g"),
        ("0.5g", "has a fraction, which Spark refuses", "512m"),
        ("1.5", "has a fraction, which Spark refuses", ""),
        ("0.3g", "has a fraction, which Spark refuses", ""),
        ("-1g", "is negative", ""),
        ("+1g", "has a sign", "1g"),
        ("4x", 'has the unit "x", which Spark does not know', ""),
        ("", "is empty", ""),
        ("lots", "is not a number with a unit", ""),
        ("9" * 30 + "g", "is too large for Spark", ""),
        ("9" * 5000 + "Gi", 'has the Kubernetes unit "Gi"; Spark uses "g"', ""),
    ],
)
def test_a_refused_size_says_why_and_what_was_meant(text: str, reason: str, suggestion: str) -> None:
    """The reason ends a sentence that starts with the text."""
    with pytest.raises(GrammarError) as caught:
        memory.to_bytes(text)
    assert (caught.value.reason, caught.value.suggestion) == (reason, suggestion)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500m", "0.5"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("2.", "2"),
        ("2Gi", str(2 * 2**30)),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1E", "1000000000000000000"),
        ("-1", "-1"),
        ("+3k", "3000"),
        ("100u", "0.0001"),
        ("0.0000000001", "0.000000001"),
    ],
)
def test_kubernetes_reads_quantities(text: str, expected: str) -> None:
    """resource.ParseQuantity, with its rounding up to one billionth."""
    assert quantity.parse(text) == Decimal(expected)


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        ("4g", 'has the suffix "g", which Kubernetes does not know', "4Gi"),
        ("4GB", 'has the suffix "GB", which Kubernetes does not know', "4Gi"),
        ("4 Gi", "has a space before its suffix", "4Gi"),
        ("4Gi ", "has a space around it", "4Gi"),
        ("2cores", 'has the suffix "cores"; a count of cores has none', "2"),
        ("0,5", "has a decimal comma instead of a point", "0.5"),
        ("1x", 'has the suffix "x", which Kubernetes does not know', ""),
        ("", "is empty", ""),
        ("two", "is not a number with a suffix", ""),
        ("1e", 'has the suffix "e", which Kubernetes does not know', ""),
        ("1e99", "has an exponent that is too large", ""),
        ("1" * 100, "is too long for a quantity", ""),
    ],
)
def test_a_refused_quantity_says_why_and_what_was_meant(text: str, reason: str, suggestion: str) -> None:
    """Kubernetes' own message is a regular expression; this one is a sentence."""
    with pytest.raises(GrammarError) as caught:
        quantity.parse(text)
    assert (caught.value.reason, caught.value.suggestion) == (reason, suggestion)


def test_cores_are_never_negative() -> None:
    """The API server refuses a negative request."""
    with pytest.raises(GrammarError, match="is negative"):
        cpu.to_cores("-1")


@pytest.mark.parametrize(("text", "expected"), [("0.1", "0.1"), (" 0.4", "0.4"), ("1", "1"), (".25", "0.25")])
def test_factors_are_decimal_numbers(text: str, expected: str) -> None:
    """Exact, so that the arithmetic with them has one result everywhere."""
    assert factor.parse(text) == Decimal(expected)


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        ("10%", "is a percentage", "0.1"),
        ("0,1", "has a decimal comma instead of a point", "0.1"),
        ("0.0", "is zero; Spark needs a factor above zero", ""),
        ("-0.1", "is negative; Spark needs a factor above zero", ""),
        ("", "is empty", ""),
        ("a tenth", "is not a decimal number", ""),
        ("0." + "1" * 60, "is too long for a factor", ""),
    ],
)
def test_a_refused_factor_says_why(text: str, reason: str, suggestion: str) -> None:
    """Spark itself would stop with a NumberFormatException."""
    with pytest.raises(GrammarError) as caught:
        factor.parse(text)
    assert (caught.value.reason, caught.value.suggestion) == (reason, suggestion)
