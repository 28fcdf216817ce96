# Jars of a web server and of the image, for a program in Python.
spark-submit @COMMON@ \
  --jars @WEB@/greeter.jar,local:///opt/probe/other.jar \
  local:///opt/probe/probe.py
