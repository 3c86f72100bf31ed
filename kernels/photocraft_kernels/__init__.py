"""Triton kernels of photocraft_local: batched crop, resize and patchify.

Imports nothing but torch and triton, and those only inside the kernel modules. Nothing in
``photocraft_local`` calls them yet: the CPU path in its ``imaging`` does the work.
"""
