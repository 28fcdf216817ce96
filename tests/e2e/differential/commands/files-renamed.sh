# A file with another name behind `#`.
# versions: 4
spark-submit @COMMON@ --files "@WEB@/numbers.csv#renamed.csv" local:///opt/probe/probe.py
