"""Starts LiteLLM's proxy with made-up answers and runs a test program against it: openai_server.py FOLDER PROGRAM.

The proxy is a real OpenAI-compatible server, and needs no model. It is installed into FOLDER the first time.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv

PACKAGE = "litellm[proxy]==1.108.7"
ANSWER = "Poker is at Jordan's on Friday at seven – bring the blue chips."
START_S = 120


def install(folder: str) -> str:
    """The folder of the installed programs."""
    bin_folder = os.path.join(folder, "venv", "bin")
    marker = os.path.join(folder, "installed")
    if not os.path.exists(marker) or open(marker).read() != PACKAGE:
        venv.create(os.path.join(folder, "venv"), with_pip=True, clear=True)
        subprocess.run([os.path.join(bin_folder, "pip"), "install", "--quiet", PACKAGE], check=True)
        with open(marker, "w") as out:
            out.write(PACKAGE)
    return bin_folder


def write_config(path: str, key: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "id"}'}}
    model = {"model": "openai/none", "api_key": "none"}
    config = {
        "model_list": [
            {"model_name": "answers", "litellm_params": {**model, "mock_response": ANSWER}},
            {"model_name": "calls", "litellm_params": {**model, "mock_response": "", "mock_tool_calls": [call]}},
        ],
        "general_settings": {"master_key": key},
        "litellm_settings": {"telemetry": False},
    }
    with open(path, "w") as out:
        json.dump(config, out)  # JSON is YAML


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_up(server: subprocess.Popen, port: int) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit("the server did not start; its log is beside its config")


def main() -> int:
    folder, program = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    bin_folder = install(folder)
    key = "sk-" + secrets.token_hex(20)
    port = free_port()
    config = os.path.join(folder, "config.yaml")
    write_config(config, key)
    command = [os.path.join(bin_folder, "litellm"), "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    with open(os.path.join(folder, "server.log"), "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        wait_until_up(server, port)
        env = {**os.environ, "E2E_BASE_URL": f"http://127.0.0.1:{port}/v1", "E2E_KEY": key, "E2E_ANSWER": ANSWER}
        return subprocess.run([program], env=env).returncode
    finally:
        server.terminate()
        server.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
