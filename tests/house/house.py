#!/usr/bin/env python3
"""The rules of the house (design.md section 3): who includes whom, what every header says, what no file holds.

usage: house.py ROOT CHECK [COMPILER]; prints each offence and exits 1 where there is one.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

# What each folder of src/ may include beside itself.
MAY_INCLUDE = {
    "base": set(),
    "store": {"base"},
    "engine": {"base"},
    "protocol": {"base"},
    "sidecar": {"base", "protocol"},
    "enter": set(),
    "corpus": {"base"},
    "hermes": {"base", "protocol"},
    "provider": {"base", "protocol"},
    "grade": {"base"},
    "report": {"base"},
    "run": None,  # everything but cli/
    "cli": None,
}

BANNED = {
    "sprintf": "snprintf() or mc_strf()",
    "vsprintf": "vsnprintf() or mc_vstrf()",
    "strcpy": "mc_strdup() or a struct mc_buf",
    "strncpy": "mc_strndup()",
    "strcat": "a struct mc_buf",
    "strncat": "a struct mc_buf",
    "gets": "mc_fs_read()",
    "strtok": "strtok_r() or a parser",
    "system": "mc_proc_run()",
    "popen": "mc_proc_run()",
    "tmpnam": "mkostemp()",
    "mktemp": "mkostemp()",
    "alloca": "mc_alloc()",
}

# Headers that declare macros and constants alone.
OWN_NOTHING = {"attr.h", "schema.h", "store_internal.h"}

FILE_LINES = 600
FUNCTION_LINES = 70


def sources(root, *suffixes):
    return sorted(p for p in (root / "src").rglob("*") if p.suffix in suffixes)


def without_comments_and_strings(text):
    """The same text with comments, strings and characters blanked; lines stay where they are."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def check_includes(root):
    for path in sources(root, ".c", ".h"):
        name = path.relative_to(root)
        folder = name.parts[1]
        if folder not in MAY_INCLUDE:
            yield f"{name}: the folder {folder} is not in the list of tests/house/house.py"
            continue
        allowed = MAY_INCLUDE[folder]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not match:
                continue
            other = match.group(1).split("/")[0]
            if not (root / "src" / match.group(1)).is_file():
                yield f"{name}:{number}: {match.group(1)} is not a path from src/"
            elif other == "cli" and folder != "cli":
                yield f"{name}:{number}: only cli/ includes cli/"
            elif other != folder and allowed is not None and other not in allowed:
                yield f"{name}:{number}: {folder}/ may not include {other}/"


def check_headers(root, compiler):
    flags = ["-std=gnu17", "-D_GNU_SOURCE", '-DMEMCAL_VERSION="0"', "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for path in sources(root, ".h"):
        name = path.relative_to(root / "src")
        program = f'#include "{name}"\n#include "{name}"\nextern int something;\n'
        command = [compiler, *flags, "-I", str(root / "src"), "-x", "c", "-fsyntax-only", "-"]
        run = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            yield f"src/{name}: does not compile alone:\n{run.stderr}"


def check_ownership(root):
    for path in sources(root, ".h"):
        text = path.read_text()
        name = path.relative_to(root)
        if "#pragma once" not in text:
            yield f"{name}: no #pragma once"
        opening = text.split("#pragma once")[0]
        if not opening.strip().startswith("/*"):
            yield f"{name}: does not begin with a comment that says what it promises"
        elif "Ownership:" not in opening and name.name not in OWN_NOTHING:
            yield f"{name}: no \"Ownership:\" sentence at its top"


def check_banned(root):
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    for path in sources(root, ".c", ".h"):
        text = without_comments_and_strings(path.read_text())
        for number, line in enumerate(text.splitlines(), 1):
            for match in pattern.finditer(line):
                yield f"{path.relative_to(root)}:{number}: {match.group(1)}(): use {BANNED[match.group(1)]}"


def check_sizes(root):
    for path in sources(root, ".c", ".h"):
        name = path.relative_to(root)
        lines = without_comments_and_strings(path.read_text()).splitlines()
        if len(lines) > FILE_LINES:
            yield f"{name}: {len(lines)} lines, at most {FILE_LINES}"
        start = None
        for number, line in enumerate(lines, 1):
            if line == "{":
                start = number
            elif line == "}" and start is not None:
                if number - start > FUNCTION_LINES:
                    yield f"{name}:{start}: a function of {number - start} lines, at most {FUNCTION_LINES}"
                start = None


def tracked(root):
    run = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=False)
    if run.returncode != 0:  # a release, without its history
        return [p for p in root.rglob("*") if p.is_file() and "build" not in p.parts[len(root.parts)]]
    return [root / name for name in run.stdout.decode().split("\0") if name]


def hosts_of_this_machine():
    """Hosts of proxies and package indexes that the environment of whoever runs this names."""
    hosts = set()
    for name, value in os.environ.items():
        if re.search(r"proxy|index_url|registry|mirror", name, flags=re.I):
            for match in re.finditer(r"//(?:[^/@\s]*@)?([\w.-]+)", value):
                hosts.add(match.group(1))
    return {h for h in hosts if h not in ("localhost", "127.0.0.1", "pypi.org", "files.pythonhosted.org")}


def check_paths(root):
    pattern = re.compile(rb"(?<![\w./$}])/(?:work|root|home/(?!me/)[a-z]\w*)/[\w.-]+")
    hosts = [h.encode() for h in hosts_of_this_machine()]
    own = root / "tests/house/house.py"
    for path in tracked(root):
        if path == own or not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" in content[:8192]:
            continue
        for number, line in enumerate(content.splitlines(), 1):
            match = pattern.search(line)
            if match:
                yield f"{path.relative_to(root)}:{number}: a path of one machine: {match.group().decode()}"
            for host in hosts:
                if host in line:
                    yield f"{path.relative_to(root)}:{number}: a host of one machine"


def main():
    root = Path(sys.argv[1]).resolve()
    check = sys.argv[2]
    checks = {
        "includes": lambda: check_includes(root),
        "headers": lambda: check_headers(root, sys.argv[3]),
        "ownership": lambda: check_ownership(root),
        "banned": lambda: check_banned(root),
        "sizes": lambda: check_sizes(root),
        "paths": lambda: check_paths(root),
    }
    offences = list(checks[check]())
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
