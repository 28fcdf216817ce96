# Files whose names have blanks, and one of a folder.
spark-submit @COMMON@ \
  --files "@WEB@/with%20space.txt,@WEB@/maven/org/example/package/1.0/package-1.0.pom" \
  local:///opt/probe/probe.py
