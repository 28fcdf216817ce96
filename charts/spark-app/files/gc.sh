#!/bin/sh
# Starts the registry of a garbage collection: for this pod alone, once nobody pushes, and until the pod ends.
#
# See push.sh for the lock. It is held by this shell for as long as the pod removes anything.
set -u
configuration=$1
folder=/var/lib/registry/.sparkgen
mkdir -p "$folder" || exit 1
exec 9>>"$folder/lock" || exit 1
registry=
trap 'trap - TERM; rm -f "$folder/wanted"; [ -z "$registry" ] || kill "$registry"; wait; exit 0' TERM INT

tries=0
until flock -xn 9; do
  tries=$((tries + 1))
  if [ "$tries" -gt 300 ]; then
    rm -f "$folder/wanted"
    echo "the side for pushes has not given the claim free for five minutes" >&2
    exit 1
  fi
  touch "$folder/wanted"
  sleep 1 & wait $!
done
rm -f "$folder/wanted"
registry serve "$configuration" 9>&- &
registry=$!
wait "$registry"
