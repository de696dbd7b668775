#!/usr/bin/env python3
"""clang-format and clang-tidy over the sources, as many at a time as there are processors.

usage: lint.py ROOT BUILD format|tidy PROGRAM

What clang-tidy found clean is not looked at again until it, a header, .clang-tidy or the way it is compiled changes:
the digests of what was clean are in BUILD/lint.cache.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def digest(*parts):
    sha = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else str(part).encode()
        sha.update(len(data).to_bytes(8, "big") + data)
    return sha.hexdigest()


def run_all(commands):
    """Runs (name, argv) pairs and prints what failed; gives the names of those that did not."""
    def run(item):
        name, argv = item
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return name, done.returncode, done.stdout + done.stderr

    clean = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, code, said in pool.map(run, commands):
            if code == 0:
                clean.append(name)
            else:
                print(f"{name}:\n{said}", flush=True)
    return clean


def check_format(root, program):
    files = [p for folder in ("src", "tests", "images") for p in (root / folder).rglob("*") if p.suffix in (".c", ".h")]
    commands = [(str(p), [program, "--dry-run", "--Werror", str(p)]) for p in sorted(files)]
    return len(run_all(commands)) == len(commands)


def check_tidy(root, build, program):
    cache_file = build / "lint.cache"
    known = set(cache_file.read_text().split()) if cache_file.exists() else set()
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    headers = sorted((root / "src").rglob("*.h"))
    common = digest(version, root / ".clang-tidy", *headers)
    keys = {}
    for unit in json.loads((build / "compile_commands.json").read_text()):
        path = Path(unit["file"])
        if (root / "src") in path.parents:
            keys[str(path)] = digest(common, path, unit["command"])
    commands = [(path, [program, "-p", str(build), "--quiet", path]) for path in sorted(keys) if keys[path] not in known]
    clean = run_all(commands)
    dirty = {name for name, _ in commands} - set(clean)
    cache_file.write_text("\n".join(sorted(key for path, key in keys.items() if path not in dirty)) + "\n")
    return not dirty


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    kind, program = sys.argv[3:5]
    good = check_format(root, program) if kind == "format" else check_tidy(root, build, program)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
