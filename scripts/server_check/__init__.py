"""The real model server put to the test: whole episodes, kills, pictures, caches, the air gap.

``scripts/gpu_check_vllm.sh`` and ``scripts/soak_server`` are its command lines; CI runs the first
on the CPU. Knows the package from outside: settings, the server's record, trajectories, the API.
"""
