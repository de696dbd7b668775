"""Everything Hermes reads when it is imported: its environment, config.yaml and plugins. Nothing here imports Hermes."""

import os
import shutil
from pathlib import Path

from memcal_program.frames import FrameError, need

HOME = Path("/memcal/home")
WORK = Path("/tmp/work")
GUARD = "memcal-guard"
GUARD_SOURCE = Path(__file__).parent / "guard"

# Hermes, its SDKs and plugins read a great many variables; only these reach them.
KEEP_ENV = ("PATH", "HOME", "LANG", "TZ", "LD_PRELOAD", "NO_FAKE_STAT", "SSL_CERT_FILE")
KEEP_ENV_PREFIX = ("FAKETIME", "PYTHON")

# What a harness manifest's `config` may hold.
CONFIG_KEYS = {"hermes": dict, "request": dict, "max_tokens": int, "probe_memory": str}


def check_config(config):
    for key, value in config.items():
        kind = CONFIG_KEYS.get(key)
        if kind is None or not isinstance(value, kind):
            raise FrameError(f"initialize: config.{key} is unknown or of the wrong type")
    if config.get("probe_memory", "write") not in ("read", "write"):
        raise FrameError("initialize: config.probe_memory is read or write")


def prepare(init):
    """Lay out HERMES_HOME and the environment for one life."""
    import yaml  # Hermes's own, not the standard library's

    check_config(init["config"])
    os.environ["HERMES_TIMEZONE"] = init["timezone"]
    WORK.mkdir(exist_ok=True)
    os.chdir(WORK)
    plugins = HOME / "plugins"
    shutil.rmtree(plugins, ignore_errors=True)
    copy_plugin(GUARD_SOURCE, plugins / GUARD)
    plugin = (init.get("provider") or {}).get("plugin")
    if plugin:
        copy_plugin(Path(need(plugin, "path", str)), plugins / need(plugin, "name", str))
    (HOME / "config.yaml").write_text(yaml.safe_dump(hermes_config(init), sort_keys=False))


def clean_environment():
    for name in list(os.environ):
        if name not in KEEP_ENV and not name.startswith(KEEP_ENV_PREFIX):
            del os.environ[name]
    os.environ.update(HERMES_HOME=str(HOME), MEM0_TELEMETRY="False")


def copy_plugin(source, target):
    if not (source / "__init__.py").is_file():
        raise FrameError(f"initialize: no plugin in {source}")
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))


def hermes_config(init):
    model = init["model"]
    endpoint = {"provider": "custom", "base_url": model["base_url"], "api_key": model["token"]}
    provider = init.get("provider") or {}
    config = {
        "model": {**endpoint, "default": model["name"], "context_length": init["limits"]["context_tokens"]},
        "providers": {"custom": {"request_timeout_seconds": 600, "stale_timeout_seconds": 600}},
        "memory": {
            "provider": provider.get("name", ""), "memory_enabled": False, "user_profile_enabled": False,
        },
        "timezone": init["timezone"],
        "agent": {
            "api_max_retries": 1, "environment_probe": False, "coding_context": "off",
            "task_completion_guidance": False, "parallel_tool_call_guidance": False, "tool_use_enforcement": False,
        },
        "plugins": {"enabled": [GUARD], **provider_config(provider)},
        "auxiliary": {
            "compression": {**endpoint, "model": model["name"], "timeout": 600},
            "title_generation": {"enabled": False},
        },
        "tools": {"tool_search": {"enabled": "off"}},
        "security": {"allow_lazy_installs": False},
        "display": {"turn_completion_explainer": False},
        "model_catalog": {"enabled": False},
    }
    return merge(config, init["config"].get("hermes", {}))


def provider_config(provider):
    """What a provider that runs inside Hermes is told about where its data lies."""
    if provider.get("name") == "holographic":
        # auto_extract must be a YAML boolean: Hermes takes the string "false" as true.
        return {"hermes-memory-store": {
            "db_path": os.path.join(need(provider, "memory_path", str), "memory_store.db"), "auto_extract": False,
        }}
    return {}


def merge(base, over):
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merge(base[key], value)
        else:
            base[key] = value
    return base
