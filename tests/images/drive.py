"""Drives programs in real containers by hand, for the tests here and from a shell: docker only, no memcal needed.

One `Life` is a network namespace without network in which a stub model listens, volumes, and a clock file.
"""

import json
import pathlib
import queue
import subprocess
import threading
import time
import uuid
from datetime import datetime

HERE = pathlib.Path(__file__).parent
LABEL = ["--label", "org.memcal.dev=images"]
CONFINED = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "10001:10001",
            "--tmpfs", "/tmp:size=256m,mode=1777", "--pids-limit", "256", "--memory", "2g"]
FAKED = {
    "LD_PRELOAD": "/usr/local/lib/memcal/libfaketimeMT.so.1", "FAKETIME_TIMESTAMP_FILE": "/memcal/clock/now",
    "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    "NO_FAKE_STAT": "1", "FAKETIME_DISABLE_SHM": "1",
}


def docker(*args, **kwargs):
    return subprocess.run(["docker", *args], check=True, capture_output=True, text=True, **kwargs).stdout.strip()


class Program:
    """One container that speaks frames."""

    def __init__(self, name, image, arguments):
        self.name, self.frames, self.process = name, [], None
        docker("create", "--interactive", "--name", name, *LABEL, *CONFINED, *arguments, image)
        self.start()

    def start(self):
        if self.process:
            self.process.stdin.close()
        self.process = subprocess.Popen(["docker", "start", "--attach", "--interactive", self.name],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.stderr, self._queue = [], queue.Queue()
        for target in (self._read, self._read_stderr):
            threading.Thread(target=target, args=(self.process, self._queue), daemon=True).start()

    def _read(self, process, frames):
        with process.stdout:
            for line in process.stdout:
                frames.put(json.loads(line))
        frames.put(None)

    def _read_stderr(self, process, _):
        with process.stderr:
            self.stderr.extend(process.stderr)

    def send(self, type_, **keys):
        self.process.stdin.write(json.dumps({"type": type_, **keys}) + "\n")
        self.process.stdin.flush()

    def until(self, *types, seconds=60):
        """The next frame of one of these types; all frames are kept."""
        end = time.monotonic() + seconds
        while True:
            frame = self._queue.get(timeout=max(0.01, end - time.monotonic()))
            if frame is None:
                self.process.wait()
                raise AssertionError(f"{self.name} ended: {''.join(self.stderr)}")
            self.frames.append(frame)
            if frame["type"] in types:
                return frame

    def close(self):
        """End of standard input; returns the exit code."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        return self.process.wait(60)


class Life:
    def __init__(self, start="2026-08-07T09:00:00-04:00", zone="America/New_York"):
        self.id = "memcal-dev-" + uuid.uuid4().hex[:8]
        self.zone, self.start = zone, start
        self.volumes = {}
        for name in ("home", "memory", "clock", "out", "out-provider", "plugin"):
            self.volumes[name] = docker("volume", "create", *LABEL, f"{self.id}-{name}")
        docker("run", "--detach", "--name", f"{self.id}-model", *LABEL, *CONFINED, "--network", "none",
               "--volume", f"{HERE}/stub_model.py:/stub.py:ro", "--volume", f"{self.volumes['clock']}:/memcal/clock",
               "memcal/base:13", "python3", "/stub.py")
        self.set_clock(start)
        self.programs = []

    def set_clock(self, moment):
        offset = datetime.fromisoformat(moment).timestamp() - time.time()
        script = f"printf '%.3f\\n' {offset:.3f} > /memcal/clock/.now && mv /memcal/clock/.now /memcal/clock/now"
        docker("exec", f"{self.id}-model", "sh", "-c", script)

    def program(self, role, image, mounts):
        arguments = ["--network", f"container:{self.id}-model", "--env", f"TZ={self.zone}"]
        for key, value in FAKED.items():
            arguments += ["--env", f"{key}={value}"]
        for volume, path, mode in (("clock", "/memcal/clock", "ro"), *mounts):
            arguments += ["--volume", f"{self.volumes[volume]}:{path}:{mode}"]
        program = Program(f"{self.id}-{role}", image, arguments)
        self.programs.append(program)
        return program

    def hermes(self, memory=False):
        mounts = [("home", "/memcal/home", "rw"), ("out", "/memcal/out", "rw"), ("plugin", "/memcal/plugin", "ro")]
        if memory:
            mounts.append(("memory", "/memcal/memory", "rw"))
        return self.program("hermes", "memcal/hermes:0.19.0", mounts)

    def provider(self, image):
        mounts = [("memory", "/memcal/memory", "rw"), ("out-provider", "/memcal/out", "rw")]
        if "fts" in image:
            mounts.append(("plugin", "/memcal/plugin", "rw"))
        return self.program("provider", image, mounts)

    def initialize(self, role, tools=(), provider=None, config=None):
        return {
            "protocol": 1, "role": role, "trial": "t1", "namespace": self.id, "timezone": self.zone,
            "scenario_time": self.start, "tools": {"allow": list(tools)},
            "model": {"base_url": "http://127.0.0.1:8080/v1", "token": "secret-of-this-attempt", "name": "stub"},
            "limits": {"turn_s": 60, "tool_calls": 5, "context_tokens": 131072}, "config": config or {},
            **({"provider": provider} if provider else {}),
        }

    def model_requests(self):
        logs = subprocess.run(["docker", "logs", f"{self.id}-model"], check=True, capture_output=True, text=True).stderr
        return [json.loads(line) for line in logs.splitlines() if line.startswith("{")]

    def close(self):
        for program in self.programs:
            subprocess.run(["docker", "rm", "--force", program.name], capture_output=True)
            program.close()
        subprocess.run(["docker", "rm", "--force", f"{self.id}-model"], capture_output=True)
        subprocess.run(["docker", "volume", "rm", *self.volumes.values()], capture_output=True)
