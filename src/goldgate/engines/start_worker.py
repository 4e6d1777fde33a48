"""The script that a worker process begins with: it sees to it that no file of the working directory is imported.

It is started by its path and with `python -P`, so that neither the working directory nor this folder is on the path;
PYTHONPATH may name the working directory all the same. The package is taken from where the first process has it.
"""

import os
import sys


def is_here(path: str) -> bool:
    """Whether this is the working directory, under whatever name."""
    try:
        return not path or os.path.samefile(path, ".")
    except OSError:  # one of the two is not there
        return False


def find_package(folder: str, name: str) -> None:
    """Import a package from its folder, and nothing else from there."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


def main(module: str, alive: str, connection: str, argument: str, *elsewhere: str) -> None:
    """`module` has the work to do; `elsewhere` is where the first process looks for its libraries, and comes last."""
    sys.path[:] = [path for path in sys.path if not is_here(path)]
    sys.path += [path for path in elsewhere if path not in sys.path]
    find_package(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "goldgate")
    from importlib import import_module

    import_module(module).main(int(alive), int(connection), argument)


if __name__ == "__main__":
    main(*sys.argv[1:])
