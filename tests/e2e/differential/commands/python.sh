# A program in Python.
# differs: allocator, own-files, names, authentication, restricted, user, written-out, objects, executor-command, backend-properties, token
spark-submit @COMMON@ \
  local:///opt/probe/probe.py "two words" stop
