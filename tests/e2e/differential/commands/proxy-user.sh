# The program runs as another user of Hadoop.
# versions: 4
spark-submit @COMMON@ --proxy-user alice local:///opt/probe/probe.py
