# The program ends with an exception.
# versions: 4
spark-submit @COMMON@ local:///opt/probe/probe.py raise
