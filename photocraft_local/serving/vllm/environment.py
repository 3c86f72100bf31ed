"""What the server process finds in its environment: nothing may go out, nothing is reported.

Caches stay in the folder that photocraft owns. Network libraries that would look something up
all the same are sent to a closed port of this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NOWHERE = "http://127.0.0.1:9"  # the discard port: refused at once
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_SERVER_DEV_MODE": "0",
    "VLLM_CONFIGURE_LOGGING": "1",
    "VLLM_LOGGING_LEVEL": "INFO",  # its lines tell how far a start has come
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "NCCL_SOCKET_IFNAME": "lo",
    "TOKENIZERS_PARALLELISM": "false",
    "NO_PROXY": "127.0.0.1,localhost,::1",
    "no_proxy": "127.0.0.1,localhost,::1",
} | {
    name: NOWHERE
    for word in ("http_proxy", "https_proxy", "all_proxy")
    for name in (word, word.upper())
}
_FOLDERS = {  # of the cache
    "HF_HOME": "huggingface",
    "VLLM_CACHE_ROOT": "vllm",
    "VLLM_CONFIG_ROOT": "vllm-config",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "CUDA_CACHE_PATH": "cuda",
    "FLASHINFER_WORKSPACE_BASE": "flashinfer",
    "XDG_CACHE_HOME": "other",
    "XDG_CONFIG_HOME": "config",
}
_OWN_PREFIX = "PHOTOCRAFT_"
_SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN")


def server_environment(
    inherited: Mapping[str, str],
    cache: Path,
    scratch: Path,
    *,
    gpus: tuple[int, ...] = (),
    for_cpu: bool = False,
    token: str = "",
) -> dict[str, str]:
    """The person's environment without photocraft's own settings and tokens, made quiet.

    ``cache``: a folder for compiled kernels and downloads that never come. ``scratch``: one for
    temporary files, which goes with the server. ``gpus``: indices as nvidia-smi counts them.
    """
    kept = {
        name: value
        for name, value in inherited.items()
        if not name.startswith(_OWN_PREFIX) and name not in _SECRETS
    }
    kept |= QUIET | {name: str(cache / folder) for name, folder in _FOLDERS.items()}
    kept |= dict.fromkeys(("TMPDIR", "TMP", "TEMP", "VLLM_RPC_BASE_PATH"), str(scratch))
    if gpus:
        kept |= {
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # the order of nvidia-smi
            "CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus)),
        }
    if for_cpu:
        kept.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
        kept["CUDA_VISIBLE_DEVICES"] = ""
    if token:
        kept["VLLM_API_KEY"] = token
    return kept
