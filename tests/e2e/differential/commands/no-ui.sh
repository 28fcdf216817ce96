# Without the UI.
spark-submit @COMMON@ --conf spark.ui.enabled=false local:///opt/probe/probe.py
