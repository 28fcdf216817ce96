#!/bin/sh
# Copies the log files of a pod to an archive, with rclone: every interval, and once more when the pod ends. Contract
# version 1 (docs/design/contract.md).
#
# Each container writes into a folder of its own, and only to the last of its files. A file that is complete is moved.
set -u
ending='' napping=''
trap 'ending=yes; [ -z "$napping" ] || kill "$napping" 2>/dev/null' TERM INT
cd /opt/sparkgen/logs || exit 1
target=$SPARKGEN_LOG_ARCHIVE/$SPARKGEN_RUN/$SPARKGEN_POD_NAME
# Only what is at most this many KiB waits for an archive that cannot be reached.
limit=$SPARKGEN_LOG_ARCHIVE_KIB

# Logs only grow, so a file of the same size is the same. Memory: one file at a time, and no buffers.
send() {
  rclone "$@" --config "" --size-only --no-traverse --local-no-check-updated --ignore-checksum \
    --transfers 1 --checkers 1 --buffer-size 0 --use-mmap --bwlimit 16M --s3-upload-concurrency 1 --s3-chunk-size 5M \
    --contimeout 10s --timeout 30s --retries 1 --low-level-retries 2 --stats 0 --log-level ERROR
}

# User code may put anything into its folder: only names as Spark's containers give them, and no links.
look() {
  : >.complete
  : >.current
  for folder in */; do
    last=''
    for file in "$folder"[0-9]*T[0-9]*Z-[0-9]*.log; do
      case "${file#*/}" in *[!0-9TZlog.-]*) continue ;; esac
      if [ ! -f "$file" ] || [ -L "$file" ] || [ -L "${folder%/}" ]; then continue; fi
      [ -z "$last" ] || echo "$last" >>.complete
      last=$file
    done
    [ -z "$last" ] || echo "$last" >>.current
  done
  [ ! -s dropped.txt ] || echo dropped.txt >>.current
}

# The oldest files go first, and the archive says so.
bound() {
  used=$(du -sk . | cut -f1)
  [ "$used" -gt "$limit" ] || return 0
  while read -r file && [ "$used" -gt "$limit" ]; do
    kib=$(du -k "$file" | cut -f1)
    rm -f -- "$file"
    used=$((used - kib))
    echo "$file was deleted before it could be archived" | tee -a dropped.txt >&2
  done <.complete
}

# What is old, of all runs. An object store has no empty folders.
forget() {
  send delete --min-age "$1" "$SPARKGEN_LOG_ARCHIVE"
  case $SPARKGEN_LOG_ARCHIVE in
    /*) send rmdirs --leave-root "$SPARKGEN_LOG_ARCHIVE" ;;
  esac
}

age=${SPARKGEN_LOG_MAX_AGE:-}
waited=$SPARKGEN_LOG_ARCHIVE_SECONDS # so the first lines are there soon
while :; do
  last_time=$ending
  look
  [ ! -s .complete ] || send move --files-from .complete . "$target"
  if [ -s .current ] && { [ -n "$last_time" ] || [ "$waited" -ge "$SPARKGEN_LOG_ARCHIVE_SECONDS" ]; }; then
    waited=0
    send copy --files-from .current . "$target"
    if [ -n "$age" ]; then # now there is a folder to look into
      forget "$age" &
      age=''
    fi
  fi
  [ -z "$last_time" ] || exit 0
  bound
  if [ -z "$ending" ]; then
    sleep 5 &
    napping=$!
    wait "$napping"
    napping='' waited=$((waited + 5))
  fi
done
