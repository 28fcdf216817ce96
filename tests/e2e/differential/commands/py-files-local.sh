# Python files of the image: a module, a zip and an egg.
# versions: 4
spark-submit @COMMON@ \
  --py-files local:///opt/probe/helper.py,local:///opt/probe/zipped.zip,local:///opt/probe/egged.egg \
  local:///opt/probe/probe.py
