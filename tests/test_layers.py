"""Imports point one way: each layer imports only what stands to its left, and never a sibling.

Imports inside functions and under ``TYPE_CHECKING`` count too.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

# Lowest first; names joined in one tuple are siblings, which never import each other.
LAYERS: list[tuple[str, ...]] = [
    ("records", "errors", "settings"),
    ("storage", "places", "timelang"),
    ("files",),
    ("imaging",),
    ("serving",),
    ("library",),
    ("embeddings",),
    ("search",),
    ("knowledge",),
    ("tools",),
    ("memory",),
    ("agent",),
    ("evaluation",),
    ("app",),
    ("cli", "web"),
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# The lowest group is one layer: settings.py may name errors.py.
FREE_SIBLINGS = {"records", "errors", "settings"}
ENTRY_POINTS = {"__init__", "__main__"}  # the package's front door may name any layer
PACKAGE = "photocraft_local"


def layer_of(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


class _RunTimeOnly(ast.NodeTransformer):
    """Leaves out what stands under ``if TYPE_CHECKING``: it names types, it runs nothing."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node.orelse
        return self.generic_visit(node)


def imported_modules(
    source: str, module_parts: list[str], *, run_time_only: bool = False
) -> list[str]:
    """Dotted names that the source imports anywhere, relative imports made absolute."""
    names: list[str] = []
    tree: ast.AST = ast.parse(source)
    for node in ast.walk(_RunTimeOnly().visit(tree) if run_time_only else tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module_parts[: -node.level], *([base] if base else [])])
            names.append(base)
            names += [f"{base}.{alias.name}" for alias in node.names]
    return names


def violations(layer: str, names: list[str]) -> list[str]:
    wrong = []
    for name in names:
        parts = name.split(".")
        if parts[0] != PACKAGE or len(parts) < 2 or parts[1] not in RANK:
            continue
        target = parts[1]
        free = target == layer or {target, layer} <= FREE_SIBLINGS
        if not free and RANK[target] >= RANK[layer]:
            wrong.append(name)
    return wrong


def test_every_module_imports_only_lower_layers(root: Path) -> None:
    package = root / PACKAGE
    wrong = []
    for path in sorted(package.rglob("*.py")):
        layer = layer_of(path, package)
        if layer in ENTRY_POINTS:
            continue
        assert layer in RANK, f"{path} belongs to no layer; add it to LAYERS with a reason"
        parts = list(path.relative_to(root).with_suffix("").parts)
        names = imported_modules(path.read_text("utf-8"), parts)
        wrong += [f"{path.relative_to(root)} imports {bad}" for bad in violations(layer, names)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("layer", "source", "bad"),
    [
        ("search", "def f():\n    from photocraft_local.tools import registry", True),
        ("places", "import photocraft_local.timelang", True),
        ("search", "from ..agent import loop", True),
        ("search", "from photocraft_local.embeddings.encoder import Encoder", False),
        ("settings", "from photocraft_local.errors import SettingsError", False),
    ],
)
def test_the_rule_itself_sees_violations(layer: str, source: str, bad: bool) -> None:
    names = imported_modules(source, [PACKAGE, layer, "module"])
    assert bool(violations(layer, names)) is bad


def test_no_two_modules_import_each_other(root: Path) -> None:
    package = root / PACKAGE
    graph: dict[str, set[str]] = {}
    for path in sorted(package.rglob("*.py")):
        parts = list(path.relative_to(root).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        source = path.read_text("utf-8")
        graph[name] = set(imported_modules(source, parts, run_time_only=True)) - {name}
    pairs = [
        f"{a} <-> {b}"
        for a, targets in graph.items()
        for b in targets
        if a < b and a in graph.get(b, set()) and PACKAGE not in (a, b)
    ]
    assert not pairs, "\n".join(pairs)


def test_kernels_import_nothing_of_the_package(root: Path) -> None:
    for path in (root / "kernels").rglob("*.py"):
        names = imported_modules(path.read_text("utf-8"), ["photocraft_kernels", path.stem])
        assert not [name for name in names if name.startswith(PACKAGE)], path
    assert not (root / "kernels" / "__init__.py").exists()
