#!/usr/bin/env bash
# One short run of the real model server, for a machine with a GPU and the gpu extra.
#
#   scripts/gpu_check_vllm.sh [--device cpu] [--weights FOLDER] [--photos FOLDER] …
#
# Starts `vllm serve` with the derived flags on a tiny checkpoint that it makes (or on your weights),
# asks whole questions, kills the server in their midst, then the client, and looks at what is left.
# No network, no registry. Progress on stderr; the last line of stdout is JSON to send back.
# PHOTOCRAFT_PYTHON names the Python of the environment; else .venv, .venv-engine or python3.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PHOTOCRAFT_PYTHON:-}
for folder in .venv-gpu .venv .venv-engine; do
    [ -n "$python" ] || ! [ -x "$here/../$folder/bin/vllm" ] || python=$here/../$folder/bin/python
done
exec "${python:-python3}" "$here/server_check/__main__.py" "$@"
