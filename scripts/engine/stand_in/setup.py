"""Puts the start-up line for torchvision_without_cuda into site-packages; no other build step."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

START_UP = "torchvision_without_cuda.pth"


class WithStartUpLine(build_py):
    """A ``.pth`` file, so that processes which the engine spawns get the hook as well."""

    def run(self) -> None:
        super().run()
        target = Path(self.build_lib, START_UP)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("import torchvision_without_cuda\n")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        return [*super().get_outputs(include_bytecode), str(Path(self.build_lib, START_UP))]


setup(cmdclass={"build_py": WithStartUpLine})
