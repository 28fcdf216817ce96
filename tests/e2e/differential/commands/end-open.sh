# The program returns and leaves its context open.
# versions: 4
spark-submit @COMMON@ local:///opt/probe/probe.py open
