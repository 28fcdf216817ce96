# A program in Python.
# versions: 4
# differs: allocator, own-files, names, authentication, restricted, user, written-out, objects, executor-command
spark-submit @COMMON@ \
  local:///opt/probe/probe.py "two words" stop
