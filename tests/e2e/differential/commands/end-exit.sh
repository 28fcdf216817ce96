# The program ends with a code.
spark-submit @COMMON@ local:///opt/probe/probe.py exit=3
