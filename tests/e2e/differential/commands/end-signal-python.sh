# The Python of the driver gets SIGTERM.
spark-submit @COMMON@ local:///opt/probe/probe.py signal=TERM
