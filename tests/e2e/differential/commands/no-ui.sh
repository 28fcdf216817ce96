# Without the UI.
# versions: 4
spark-submit @COMMON@ --conf spark.ui.enabled=false local:///opt/probe/probe.py
