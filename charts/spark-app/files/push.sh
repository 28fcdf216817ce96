#!/bin/sh
# Starts the side of a staging server to which artifacts are pushed.
#
# It serves while it has a lock on the claim, which all replicas may have at once. Who collects garbage wants the lock
# alone: it keeps the file `wanted` there, as long as it waits. Then this replica ends its server, gives the lock back
# and takes it again when that is over. A process that dies has no lock any more, so nothing is left to clean up.
set -u
configuration=$1
folder=/var/lib/registry/.sparkgen
mkdir -p "$folder" || exit 1
exec 9>>"$folder/lock" || exit 1
registry=
trap 'trap - TERM; [ -z "$registry" ] || kill "$registry"; wait; exit 0' TERM INT

pause() { sleep 1 & wait $!; }

while :; do
  until flock -sn 9; do pause; done
  # Not with descriptor 9: the lock is this shell's, and goes with it.
  registry serve "$configuration" 9>&- &
  registry=$!
  while kill -0 "$registry" 2>/dev/null && [ ! -e "$folder/wanted" ]; do pause; done
  if [ ! -e "$folder/wanted" ]; then
    wait "$registry"
    exit $?
  fi
  echo "garbage is collected: pushes wait" >&2
  kill "$registry"
  wait "$registry"
  registry=
  flock -u 9
  # Whoever waits writes it anew every second: one that stays longer is of somebody who died.
  tries=0
  while [ -e "$folder/wanted" ] && [ "$tries" -lt 60 ]; do
    tries=$((tries + 1))
    pause
  done
  rm -f "$folder/wanted"
done
