"""Run files with the tiny program that are made as a test needs them. YAML's flow style is JSON, so JSON it is."""

import json
import pathlib

CORPUS = pathlib.Path(__file__).resolve().parent / "data" / "corpus"
ANSWERS = {"At which desk does the book wait?": "At desk 14.", "What did I say when I would fetch it?": "On 3 March 2026."}


def write(folder, name, content):
    path = pathlib.Path(folder) / name
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def provider(folder, name, behaviour=None, limits=None):
    config = {"behaviour": behaviour} if behaviour else {}
    return write(folder, f"provider-{name}.yaml", {
        "name": name, "image": "memcal/program-tiny:1", "faked": [], "config": config,
        "limits": {"start_s": 20, "import_s": 1, "night_s": 1, "stop_s": 1, "memory_mb": 32, "pids": 16, **(limits or {})}})


def harness(folder, name, behaviour=None, limits=None, beside=None):
    config = {"answers": ANSWERS, **({"behaviour": behaviour} if behaviour else {})}
    content = {"name": name, "via": "program", "image": "memcal/program-tiny:1", "version": "1", "config": config,
               "limits": {"start_s": 20, "turn_s": 1, "stop_s": 1, "memory_mb": 32, "pids": 16, **(limits or {})}}
    if beside:
        content["provider"] = str(beside)
    return write(folder, f"harness-{name}.yaml", content)


def run(folder, *harnesses, name="run", **more):
    return write(folder, f"{name}.yaml", {
        "name": name, "corpus": str(CORPUS), "harnesses": [str(path) for path in harnesses],
        "model": {"upstream": {"kind": "script", "name": "extractive"}}, **more})
