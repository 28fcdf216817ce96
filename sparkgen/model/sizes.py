"""The memory of a role, computed like in Spark's Kubernetes backend."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sparkgen.grammar.memory import to_mib
from sparkgen.model.application import Memory
from sparkgen.model.properties import is_true

DEFAULT_MEMORY = "1g"
"""The default of spark.driver.memory and spark.executor.memory."""
MIN_OVERHEAD_MIB = 384
"""ResourceProfile.MEMORY_OVERHEAD_MIN_MIB; since 4.0 spark.{driver,executor}.minMemoryOverhead."""
JVM_OVERHEAD_FACTOR = "0.1"
"""The default of spark.kubernetes.memoryOverheadFactor."""
NON_JVM_OVERHEAD_FACTOR = "0.4"
"""The factor of BasicDriverFeatureStep for Python and R, which it passes on to the executors."""


def memory(role: str, properties: Mapping[str, str], language: str) -> Memory:
    """The memory of a role in MiB, from the effective Spark properties.

    Source: BasicDriverFeatureStep, BasicExecutorFeatureStep, and getResourcesForClusterManager of
    ResourceProfile. As there, off-heap memory and PySpark's own limit only count for executors.
    """
    heap = to_mib(properties.get(f"spark.{role}.memory", DEFAULT_MEMORY))
    overhead = _overhead(role, properties, language, heap)
    if role == "driver":
        return Memory(heap, overhead)
    off_heap = 0
    if is_true(properties, "spark.memory.offHeap.enabled"):
        off_heap = to_mib(properties.get("spark.memory.offHeap.size", "0"), default_unit="b")
    pyspark = 0
    if language == "Python":
        pyspark = to_mib(properties.get("spark.executor.pyspark.memory", "0"))
    return Memory(heap, overhead, off_heap, pyspark)


def daemon_memory(heap: int) -> int:
    """The memory in MiB of the container of a Spark daemon, in the same parts as for a Java driver."""
    return heap + max(heap // 10, MIN_OVERHEAD_MIB)


def _overhead(role: str, properties: Mapping[str, str], language: str, heap: int) -> int:
    explicit = properties.get(f"spark.{role}.memoryOverhead")
    if explicit is not None:
        return to_mib(explicit)
    default = NON_JVM_OVERHEAD_FACTOR if language in ("Python", "R") else JVM_OVERHEAD_FACTOR
    factor = properties.get(
        f"spark.{role}.memoryOverheadFactor",
        properties.get("spark.kubernetes.memoryOverheadFactor", default),
    )
    least = properties.get(f"spark.{role}.minMemoryOverhead")
    # Exact decimal arithmetic, like Helm's mulf. Spark multiplies doubles, and is one MiB lower for about one
    # in six thousand pairs (0.94 x 2150): a container may be larger, never smaller.
    return max(int(Decimal(factor) * heap), MIN_OVERHEAD_MIB if least is None else to_mib(least))
