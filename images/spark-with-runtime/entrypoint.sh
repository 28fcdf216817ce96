#!/bin/sh
# The runtime's commands are the runtime's; all else is the Spark image's own entrypoint's.
case "$1" in
  install | allocator | janitor | version) exec /opt/sparkgen-runtime/sparkgen-runtime "$@" ;;
  *) exec /opt/entrypoint.sh "$@" ;;
esac
