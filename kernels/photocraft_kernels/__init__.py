"""Triton kernels of photocraft_local: batched crop, resize and patchify.

Imports nothing but torch and triton, and those only inside the kernel modules. Of
``photocraft_local`` only ``imaging.device_patches`` calls one, where the setting decode_device asks
for a GPU; else the CPU path in ``imaging`` does the work.
"""
