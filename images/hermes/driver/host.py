"""Hermes itself: builds agents, and proves before anything runs that they are what the benchmark says they are."""

import importlib.metadata

from . import HERMES_VERSION, home
from .guarding import GUARD, HOOKS
from .memory import Loader
from .sessions import Session, Stopper, Store, hermes_id

# Prompt blocks without a switch: two name tools and pages that are not there, the third the engine host's kernel, so that
# the same life would be told differently on another host.
EMPTIED = ("HERMES_AGENT_HELP_GUIDANCE", "STEER_CHANNEL_NOTE", "build_environment_hints")


class Refused(Exception):
    """Hermes is not as the benchmark needs it."""


def require(true, text):
    if not true:
        raise Refused(text)


class Host:
    """One Hermes home with its sessions. Made only after home.prepare: importing Hermes reads that."""

    def __init__(self, init, frames):
        import agent.system_prompt
        import hermes_cli
        import run_agent

        self._init, self._frames, self._agent_class = init, frames, run_agent.AIAgent
        self.versions = {hermes_cli.__version__, importlib.metadata.version("hermes-agent")}
        require(self.versions == {HERMES_VERSION}, f"Hermes {self.versions} in an image for {HERMES_VERSION}")
        for name in EMPTIED:
            module = run_agent if callable(getattr(run_agent, name, None)) else agent.system_prompt
            require(getattr(module, name, None), f"Hermes has no {name}")
            setattr(module, name, (lambda: "") if module is run_agent else "")
        self.provider = (init.get("provider") or {}).get("name", "")
        self.allow = init["tools"]["allow"]
        self.kind = "probe"  # of what runs now
        self._probes_write = init["config"].get("probe_memory", "write") == "write"
        self._loader = Loader(lambda: self.kind == "turn" or self._probes_write)
        GUARD.configure(self.allow, init["limits"]["tool_calls"], self.provider)
        self.stopper = Stopper()
        self.store = Store(str(home.HOME / "memcal-turn.json"), frames.journal.outcomes)
        self._sessions = {}

    def build(self, session_id):
        init, config = self._init, self._init["config"]
        toolsets = ["memory"] if self.provider else []
        agent = self._agent_class(
            base_url=init["model"]["base_url"], api_key=init["model"]["token"], model=init["model"]["name"],
            provider="custom", api_mode="chat_completions", max_iterations=init["limits"]["tool_calls"] + 1,
            # Registry tools are enabled less disabled, so none; the provider's own are gated by enabled only.
            enabled_toolsets=toolsets, disabled_toolsets=["memory"], quiet_mode=True, skip_context_files=True,
            session_id=session_id, session_db=self.store.db, max_tokens=config.get("max_tokens"),
            request_overrides=config.get("request"),
        )
        agent._repair_tool_call = lambda name: None  # a near miss of a tool's name is not that tool
        summary = agent._usage_summary_for_api_request_hook

        def noted(response):
            GUARD.note_usage(response)
            return summary(response)

        agent._usage_summary_for_api_request_hook = noted
        memory = self._loader.last if self.provider else None
        self.check(agent, memory)
        return agent, memory

    def check(self, agent, memory):
        """Every place where Hermes would go on without a word, looked at. Before ready and before each turn."""
        from hermes_cli.plugins import get_plugin_manager

        if self.provider:
            require(memory, f"memory provider {self.provider} was not found or did not load")
            require(memory.initialized, f"memory provider {self.provider} did not start: {memory.errors}")
            manager = agent._memory_manager
            require(manager, f"memory provider {self.provider} is not available: Hermes goes on without memory")
            names = [provider.name for provider in manager.providers]
            require(names == [self.provider], f"memory providers are {names}, not {self.provider}")
            require(getattr(memory.provider, "_store", True) is not None, f"{self.provider} has no store")
        else:
            require(agent._memory_manager is None, "a memory provider is there and none was asked for")
        tools = sorted(tool["function"]["name"] for tool in agent.tools or [])
        require(tools == sorted(self.allow), f"tools are {tools}, allowed are {sorted(self.allow)}")
        require(set(agent.valid_tool_names) == set(self.allow), "Hermes takes other tools than it offers")
        require(not agent._memory_enabled and not agent._user_profile_enabled and agent._memory_store is None,
                "Hermes's built-in memory is on")
        require(agent.skip_context_files, "Hermes reads context files")
        require(agent.api_mode == "chat_completions", f"api_mode is {agent.api_mode}")
        window = agent.context_compressor.context_length
        require(window == self._init["limits"]["context_tokens"], f"the context window is {window} tokens")
        plugins = get_plugin_manager()
        guard = plugins._plugins.get(home.GUARD)
        require(guard is not None and guard.enabled, "the guard plugin is not loaded")
        for name in HOOKS:
            require(getattr(GUARD, name) in plugins._hooks.get(name, []), f"the guard has no {name} hook")

    def rehearse(self):
        """Build one agent and let it go, so that what is wrong shows before ready."""
        agent, memory = self.build("memcal-rehearsal")
        if memory:
            agent._memory_manager.shutdown_all()
            memory.close()
        agent.close()

    def capabilities(self):
        return {
            "driver": "in-process", "hermes": HERMES_VERSION, "memory_provider": self.provider or None,
            "sessions": "resumed from state.db", "probe_memory": "write" if self._probes_write else "read",
            "prompt_blocks_emptied": list(EMPTIED),
            "off": ["built-in memory", "user profile", "skills", "session search", "context files", "title generation",
                    "tool name repair", "lazy installs"],
            "clock": "container",
        }

    def session(self, name):
        if name not in self._sessions:
            self._sessions[name] = Session(self, name)
        return self._sessions[name]

    def end_session(self, name):
        if name not in self._sessions and not self.store.exists(hermes_id(name)):
            return
        session = self.session(name)
        del self._sessions[name]
        session.close(ended=True)

    def close(self, ended):
        for name in list(self._sessions):
            self._sessions.pop(name).close(ended)
        self.store.db.close()
