# One jar twice, as a jar and as a file.
# versions: 4
spark-submit @COMMON@ \
  --jars @WEB@/greeter.jar,@WEB@/greeter.jar --files @WEB@/greeter.jar \
  local:///opt/probe/probe.py
