#!/usr/bin/env bash
# Starts JupyterLab in a notebook's pod. Contract version 1 (docs/design/contract.md).
set -euo pipefail

fail() {
  echo "sparkgen: $1" >&2
  exit 1
}

jupyter="$(command -v jupyter-lab || command -v jupyter-server)" ||
  fail "the image has no JupyterLab: build one as docs/notebooks.md says, and name it in spec.image"

# Jupyter takes a file as it is: with an empty one it asks nobody, and one that ends in a newline matches nothing.
token="$(cat "$SPARKGEN_NOTEBOOK_TOKEN")"
[[ "$token" =~ [^[:space:]] ]] || fail "the Secret has an empty token, with which everybody would be let in"
export JUPYTER_RUNTIME_DIR="${TMPDIR:-/tmp}/jupyter-runtime"
export JUPYTER_TOKEN_FILE="$JUPYTER_RUNTIME_DIR/token"
(umask 077 && mkdir -p "$JUPYTER_RUNTIME_DIR" && printf %s "$token" >"$JUPYTER_TOKEN_FILE")
unset token JUPYTER_TOKEN

# A kernel that is killed leaves its JVM to process 1, which has to collect it.
tini="$(command -v tini || true)"
# A tab that is left open keeps no kernel, and so no executors.
cull="${SPARKGEN_KERNEL_IDLE_SECONDS:-0}"
folder="${SPARKGEN_NOTEBOOK_FOLDER:-$HOME}"
cd "$folder"
exec ${tini:+"$tini" -s --} "$jupyter" --ServerApp.ip="${SPARKGEN_NOTEBOOK_ADDRESS:-*}" --ServerApp.port="$SPARKGEN_NOTEBOOK_PORT" \
  --ServerApp.port_retries=0 --ServerApp.open_browser=False --ServerApp.quit_button=False \
  --ServerApp.root_dir="$folder" \
  --MappingKernelManager.cull_idle_timeout="$cull" --MappingKernelManager.cull_connected=True \
  --MappingKernelManager.cull_interval=10 "$@"
