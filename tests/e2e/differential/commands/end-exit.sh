# The program ends with a code.
# versions: 4
spark-submit @COMMON@ local:///opt/probe/probe.py exit=3
