#!/usr/bin/env bash
# Starts one Spark executor whose files the shuffle service of its node serves. Contract version 1 (docs/design/contract.md).
#
# An executor that cannot register with the service fails after its JVM has started: so it looks here, and says
# by its exit code (80) that the node cannot be used. Nothing of this counts against the application.
set -euo pipefail
trap 'exit 143' TERM # process 1 is deaf to signals that it has no handler for

answers() {
  (exec 3<>"/dev/tcp/$SPARKGEN_EXECUTOR_HOST/$SPARKGEN_SHUFFLE_PORT") 2>/dev/null
}

patience="${SPARKGEN_SHUFFLE_TIMEOUT_SECONDS:-45}"
# Arithmetic would evaluate other text, and run commands in it.
if [[ ! "$patience" =~ ^(0|[1-9][0-9]{0,5})$ ]]; then
  echo "sparkgen: SPARKGEN_SHUFFLE_TIMEOUT_SECONDS must be a number of seconds" >&2
  exit 1
fi
until timeout 5 bash -c "$(declare -f answers); answers"; do
  if (( SECONDS > patience )); then
    host="$SPARKGEN_EXECUTOR_HOST"
    [[ "$host" != *:* ]] || host="[$host]"
    message="no shuffle service answers at $host:$SPARKGEN_SHUFFLE_PORT"
    echo "sparkgen: $message" >&2
    if [[ -w /dev/termination-log ]]; then # the kubelet's: outside a pod there is none, and none is made
      echo "$message" >/dev/termination-log
    fi
    exit 80
  fi
  sleep 1
done

# What executors write, the service reads and the janitor removes by the group that all three share.
umask 0007

# The janitor leaves alone what is held: until this process, or the Java that takes its place, has ended.
folder="${SPARK_LOCAL_DIRS%%,*}"
if command -v flock >/dev/null; then
  exec 9>>"$folder/.in-use"
  flock --shared 9
fi
source "${BASH_SOURCE[0]%/*}/executor.sh"
