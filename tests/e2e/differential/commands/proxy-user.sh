# The program runs as another user of Hadoop.
spark-submit @COMMON@ --proxy-user alice local:///opt/probe/probe.py
