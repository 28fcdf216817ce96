# The program returns, and a thread goes on.
spark-submit @COMMON@ local:///opt/probe/probe.py thread
