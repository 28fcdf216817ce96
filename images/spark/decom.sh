#!/bin/bash
# The preStop hook of an executor that is decommissioned. SIGPWR tells its JVM to hand over its blocks; the hook
# then keeps the container until the JVM has ended, for at most a minute.
executor="$(ps -C java -o pid=,args= | sed -n 's/^ *\([0-9]*\) .*Executor.*/\1/p' | tail -n 1)"
[ -n "$executor" ] || exit 0
kill -s PWR "$executor"
timeout 60 tail --pid="$executor" --follow /dev/null
exit 0
