#!/usr/bin/env bash
# One short run for a machine with a GPU that has only Python, PyTorch and transformers.
#
#   scripts/gpu_check.sh [--device cpu]
#
# Makes tiny checkpoints of both families and runs the transformers backend on the GPU beside the
# CPU: tokens, kept prefixes, pictures; then speed and memory at a 2B model's sizes with random
# numbers; first of all the Triton kernels by their benchmarks, with which claims of speed held; then
# encoders: attention over blocks, Qwen3-VL-Embedding, CLIP by onnxruntime; JPEG files by nvImageCodec,
# where the extra gpu-decode is; then, where
# faiss-gpu is installed, the vector store on the GPU beside NumPy's. No network,
# no registry, nothing is installed; this checkout need not be either. Progress on stderr; the last
# line of stdout is JSON to send back. PHOTOCRAFT_PYTHON names the Python.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "${PHOTOCRAFT_PYTHON:-python3}" "$here/model_check/__main__.py" "$@"
