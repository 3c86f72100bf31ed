"""Triton kernels of photocraft_local: batched crop, resize and patchify.

Imports nothing but torch and triton, and those only inside the kernel modules. This release
holds the package seam only; the CPU path in ``photocraft_local.imaging`` does the work.
"""
