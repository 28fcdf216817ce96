"""The same spark-submit command by Spark's own backend and by sparkgen, compared (tests/e2e/differential)."""
