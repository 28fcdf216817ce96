"""The benchmarks of docs/benchmarks, and what they measure with."""
