# The program returns, and a thread goes on.
# versions: 4
spark-submit @COMMON@ local:///opt/probe/probe.py thread
