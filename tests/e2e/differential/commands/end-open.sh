# The program returns and leaves its context open.
spark-submit @COMMON@ local:///opt/probe/probe.py open
