# Python files of a web server: a module, a zip and an egg.
spark-submit @COMMON@ \
  --py-files @WEB@/helper.py,@WEB@/zipped.zip,@WEB@/egged.egg \
  local:///opt/probe/probe.py
