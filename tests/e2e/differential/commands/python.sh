# A program in Python.
# differs: allocator, own-files, names, authentication, restricted, user, written-out, objects, executor-command
spark-submit @COMMON@ \
  local:///opt/probe/probe.py "two words" stop
