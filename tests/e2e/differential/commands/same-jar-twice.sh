# One jar twice, as a jar and as a file.
spark-submit @COMMON@ \
  --jars @WEB@/greeter.jar,@WEB@/greeter.jar --files @WEB@/greeter.jar \
  local:///opt/probe/probe.py
