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

# User code may put anything into its folder, under any name, and put something else there at any moment. So a file is
# linked into .own, where nobody else can reach it, and only then checked. `ln` links no folders, and links themselves.
take() {
  own=.own/$2/$1
  mkdir -p "${own%/*}"
  # An earlier file of this name waits there: next time.
  [ ! -e "$own" ] && [ ! -L "$own" ] && ln "$1" "$own"
}

# The files that were taken into a folder of .own, the oldest first. What is no plain file is deleted.
taken() {
  for own in ".own/$1"/*/*.log; do
    if [ -f "$own" ] && [ ! -L "$own" ]; then echo "${own#".own/$1/"}"; else rm -f -- "$own"; fi
  done | sort -t / -k 2
}

# The last file of each container is .current. Files are taken as soon as they are complete.
look() {
  : >.current
  for folder in */; do
    last=''
    for file in "$folder"[0-9]*T[0-9]*Z-[0-9]*.log; do
      case "${file#*/}" in *[!0-9TZlog.-]*) continue ;; esac
      if [ ! -f "$file" ] || [ -L "$file" ] || [ -L "${folder%/}" ]; then continue; fi
      [ -z "$last" ] || { take "$last" complete && rm -f -- "$last"; }
      last=$file
    done
    [ -z "$last" ] || echo "$last" >>.current
  done
}

# Copies what the files have so far, and the list of what is missing.
copy() {
  rm -rf .own/current
  while read -r file; do take "$file" current; done <.current
  taken current >.sent
  if [ -s dropped.txt ]; then
    mkdir -p .own/current
    ln dropped.txt .own/current/dropped.txt && echo dropped.txt >>.sent
  fi
  [ ! -s .sent ] || send copy --files-from .sent .own/current "$target"
  rm -rf .own/current
}

# The oldest files go first, and the archive says so.
bound() {
  used=$(du -sk . | cut -f1)
  [ "$used" -gt "$limit" ] || return 0
  taken complete >.sent
  while read -r file && [ "$used" -gt "$limit" ]; do
    kib=$(du -k ".own/complete/$file" | cut -f1)
    rm -f -- ".own/complete/$file"
    used=$((used - kib))
    echo "$file was deleted before it could be archived" | tee -a dropped.txt >&2
  done <.sent
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
  taken complete >.sent
  [ ! -s .sent ] || send move --files-from .sent .own/complete "$target"
  if { [ -s .current ] || [ -s dropped.txt ]; } &&
    { [ -n "$last_time" ] || [ "$waited" -ge "$SPARKGEN_LOG_ARCHIVE_SECONDS" ]; }; then
    waited=0
    copy
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
