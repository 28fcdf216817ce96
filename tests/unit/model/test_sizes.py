"""Memory: what Spark's own Kubernetes backend would request, case by case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.model.application import Memory
from sparkgen.model.sizes import MIN_OVERHEAD_MIB, memory

FACTOR = "spark.kubernetes.memoryOverheadFactor"
OFF_HEAP = {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "2g"}

# (role, language, properties, heap, overhead, off-heap, PySpark), all in MiB and worked out by hand from
# BasicDriverFeatureStep, BasicExecutorFeatureStep and ResourceProfile.getResourcesForClusterManager.
SPARKS_NUMBERS = (
    # The default heap is 1g; a tenth of it is less than the 384 MiB that Spark always adds.
    ("driver", "Scala", {}, 1024, 384, 0, 0),
    ("executor", "Java", {}, 1024, 384, 0, 0),
    # Python and R: 0.4 x 1024 = 409.6, and Spark cuts the fraction off.
    ("driver", "Python", {}, 1024, 409, 0, 0),
    ("executor", "Python", {}, 1024, 409, 0, 0),
    ("executor", "R", {}, 1024, 409, 0, 0),
    # 0.4 x 512 = 204.8 is below the minimum for them too.
    ("driver", "Python", {"spark.driver.memory": "512m"}, 512, 384, 0, 0),
    # Around the point where a tenth overtakes the minimum: 384.1, then 385.
    ("executor", "Scala", {"spark.executor.memory": "3841m"}, 3841, 384, 0, 0),
    ("executor", "Scala", {"spark.executor.memory": "3850m"}, 3850, 385, 0, 0),
    ("executor", "Scala", {"spark.executor.memory": "4g"}, 4096, 409, 0, 0),
    ("executor", "Python", {"spark.executor.memory": "4g"}, 4096, 1638, 0, 0),
    ("executor", "Java", {"spark.executor.memory": "8G"}, 8192, 819, 0, 0),
    ("driver", "Scala", {"spark.driver.memory": "1t"}, 1048576, 104857, 0, 0),
    # A number without a unit is MiB.
    ("executor", "Scala", {"spark.executor.memory": "2048"}, 2048, 384, 0, 0),
    # An explicit overhead is taken as it is: above, below and without the minimum.
    (
        "driver",
        "Scala",
        {"spark.driver.memory": "4g", "spark.driver.memoryOverhead": "1g", FACTOR: "0.5"},
        4096,
        1024,
        0,
        0,
    ),
    ("executor", "Python", {"spark.executor.memoryOverhead": "100m"}, 1024, 100, 0, 0),
    ("executor", "Scala", {"spark.executor.memoryOverhead": "2048"}, 1024, 2048, 0, 0),
    # Factors: one for all, which replaces 0.4 as well, and one for a role, which wins over it.
    ("executor", "Scala", {"spark.executor.memory": "4g", FACTOR: "0.2"}, 4096, 819, 0, 0),
    ("executor", "Python", {"spark.executor.memory": "4g", FACTOR: "0.2"}, 4096, 819, 0, 0),
    (
        "driver",
        "Scala",
        {"spark.driver.memory": "4g", FACTOR: "0.2", "spark.driver.memoryOverheadFactor": "0.3"},
        4096,
        1228,
        0,
        0,
    ),
    ("executor", "Scala", {FACTOR: "0"}, 1024, 384, 0, 0),
    # Spark 4 lets one choose the minimum.
    ("executor", "Scala", {"spark.executor.minMemoryOverhead": "1g"}, 1024, 1024, 0, 0),
    ("driver", "Scala", {"spark.driver.minMemoryOverhead": "100m"}, 1024, 102, 0, 0),
    # Off-heap memory counts for executors, if it is on; its size without a unit is bytes.
    ("executor", "Scala", {"spark.executor.memory": "4g", **OFF_HEAP}, 4096, 409, 2048, 0),
    ("executor", "Scala", {**OFF_HEAP, "spark.memory.offHeap.size": "2147483648"}, 1024, 384, 2048, 0),
    ("executor", "Scala", {**OFF_HEAP, "spark.memory.offHeap.enabled": "false"}, 1024, 384, 0, 0),
    ("driver", "Scala", OFF_HEAP, 1024, 384, 0, 0),
    # PySpark's limit counts for executors of Python applications.
    ("executor", "Python", {"spark.executor.pyspark.memory": "1g"}, 1024, 409, 0, 1024),
    ("executor", "Scala", {"spark.executor.pyspark.memory": "1g"}, 1024, 384, 0, 0),
    ("driver", "Python", {"spark.executor.pyspark.memory": "1g"}, 1024, 409, 0, 0),
    # What is said of one role says nothing of the other.
    (
        "driver",
        "Scala",
        {"spark.executor.memory": "8g", "spark.executor.memoryOverhead": "1"},
        1024,
        384,
        0,
        0,
    ),
)


@pytest.mark.parametrize(
    ("role", "language", "properties", "heap", "overhead", "off_heap", "pyspark"), SPARKS_NUMBERS
)
def test_memory_is_sparks(
    role: str,
    language: str,
    properties: dict[str, str],
    heap: int,
    overhead: int,
    off_heap: int,
    pyspark: int,
) -> None:
    """Each part, and their sum, is what Spark would put into the pod."""
    expected = Memory(heap, overhead, off_heap, pyspark)
    assert memory(role, properties, language) == expected
    assert expected.total == heap + overhead + off_heap + pyspark


@given(st.integers(1, 2**20), st.decimals("0", "5", places=3))
def test_overhead_never_falls_below_spark(heap: int, factor: object) -> None:
    """Exact arithmetic gives Spark's double arithmetic or one MiB more, never less."""
    properties = {"spark.executor.memory": f"{heap}m", FACTOR: str(factor)}
    ours = memory("executor", properties, "Scala").overhead
    sparks = max(int(float(str(factor)) * heap), MIN_OVERHEAD_MIB)
    assert ours - sparks in (0, 1)
