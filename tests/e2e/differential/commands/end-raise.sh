# The program ends with an exception.
spark-submit @COMMON@ local:///opt/probe/probe.py raise
