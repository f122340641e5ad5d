"""The scripts of `benchmarks/`, which are no package, as modules."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@cache
def benchmark(name: str) -> ModuleType:
    """The script of this name: a path under `benchmarks/` without its suffix."""
    spec = importlib.util.spec_from_file_location(f"benchmarks_{Path(name).name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
