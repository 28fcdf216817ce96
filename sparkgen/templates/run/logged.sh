#!/usr/bin/env bash
# Runs a command, and keeps what it prints in files as well, for the log archive. Contract version 1
# (docs/design/contract.md).
#
# Nothing here may keep the command from running: where no files can be kept, it runs as it is.
set -u
folder=/opt/sparkgen/logs
bytes=4194304 # of a file: each of them is copied to the archive when it is full

case "$1" in
  driver | executor) set -- /opt/entrypoint.sh "$@" ;; # modes of the stock image's entrypoint
esac

# Pipes with names, because only then does this shell know when the programs behind them have ended.
if ! { split --version && pipes="$(mktemp -d "$folder/.pipes-XXXXXX")" && mkfifo "$pipes/printed" "$pipes/kept"; } \
    >/dev/null 2>&1; then
  echo "sparkgen: this log is not archived: $folder cannot be written to, or the image has no split of GNU" >&2
  exec "$@"
fi
# The archiving container may link a file of another user only if its group may write it (fs.protected_hardlinks).
(umask 002; exec split --bytes="$bytes" --numeric-suffixes --suffix-length=6 --additional-suffix=.log - \
  "$folder/$(date -u +%Y%m%dT%H%M%SZ)-" <"$pipes/kept") &
splitter=$!
# A full disk ends the copy, and not what the container prints.
tee -p "$pipes/kept" <"$pipes/printed" &
printer=$!

"$@" >"$pipes/printed" 2>&1 &
command=$!
trap 'kill -TERM "$command" 2>/dev/null' TERM
# A signal interrupts `wait`; Bash remembers the code of a command that has ended.
while kill -0 "$command" 2>/dev/null; do wait "$command"; done
wait "$command"
code=$?

# The last lines are on their way. A process that the command has left behind may keep the pipe open.
for _ in {1..100}; do
  kill -0 "$printer" 2>/dev/null || kill -0 "$splitter" 2>/dev/null || break
  sleep 0.05
done
rm -rf "$pipes"
exit "$code"
