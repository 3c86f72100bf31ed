#!/usr/bin/env bash
# One short run for a machine with a GPU that has only Python, PyTorch and transformers.
#
#   scripts/gpu_check.sh [--device cpu]
#
# First the Triton kernels by their benchmarks, with which claims of speed held; JPEG files by
# nvImageCodec, where the extra gpu-decode is; the vector store on the GPU beside NumPy's, where
# faiss-gpu is; encoders: attention over blocks, Qwen3-VL-Embedding, CLIP by onnxruntime; then, on tiny
# checkpoints of both families that it makes, the transformers backend on the GPU beside the CPU:
# tokens, kept prefixes, pictures; last speed and memory at a 2B model's sizes with random numbers.
# What breaks one part is told, and the next one runs; none begins after seven minutes. No network,
# no registry, nothing is installed; this checkout need not be either. Progress on stderr; the last
# line of stdout is JSON to send back, also where it is stopped. PHOTOCRAFT_PYTHON names the Python.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "${PHOTOCRAFT_PYTHON:-python3}" "$here/model_check/__main__.py" "$@"
