# A file with another name behind `#`.
spark-submit @COMMON@ --files "@WEB@/numbers.csv#renamed.csv" local:///opt/probe/probe.py
