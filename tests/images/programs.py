"""Makes the programs of the images importable on the host, under the names that they have in their containers."""

import importlib.util
import pathlib
import sys

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "images"


def load(name, folder):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, IMAGES / folder / "__init__.py", submodule_search_locations=[str(IMAGES / folder)])
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])


sys.dont_write_bytecode = True
sys.path.insert(0, str(IMAGES / "base/python"))
load("hermes_driver", "hermes/driver")
load("fts_provider", "providers/fts/adapter")
