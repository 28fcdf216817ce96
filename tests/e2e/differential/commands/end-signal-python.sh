# The Python of the driver gets SIGTERM.
# versions: 4
spark-submit @COMMON@ local:///opt/probe/probe.py signal=TERM
