"""Every command as people and machines use it: help, plans, and what is shown of a small run."""

import json
import os
import pathlib
import re
import tempfile
import unittest

import e2e
import manifests


def listed(text):
    """The first words of a help page's table."""
    return re.findall(r"^  ([a-z-]+) +\S", text, re.MULTILINE)


class Help(unittest.TestCase):
    def page(self, *words):
        seen = e2e.memcal(*words, "--help", engine="unix:///nonexistent")
        self.assertEqual((seen.code, seen.err), (0, ""), f"{words}: {seen}")
        return seen.out

    def test_overview(self):
        out = e2e.memcal("help").out
        self.assertEqual((out, out), (e2e.memcal("--help").out, e2e.memcal().out))
        commands = listed(out)
        for name in ("run", "runs", "show", "corpus", "harness", "provider", "image", "doctor", "version", "help"):
            self.assertIn(name, commands)

    def words(self, *words):
        """Every command that does something, under the words given."""
        page = self.page(*words)
        if not page.startswith(f"usage: memcal {' '.join(words)} COMMAND ..."):
            return [words]
        self.assertTrue(listed(page), page)
        return [below for word in listed(page) for below in self.words(*words, word)]

    def test_every_page(self):
        commands = [name for name in listed(e2e.memcal("help").out) if name != "help"]
        pages = [words for command in commands for words in self.words(command)]
        self.assertGreaterEqual(len(pages), 25)
        for words in pages:
            with self.subTest(command=words):
                text = self.page(*words)
                self.assertRegex(text, rf"\Ausage: memcal {' '.join(words)}\b[^\n]*\n\n[A-Z][^\n]+")
                self.assertIn("\noptions:\n", text)
                for option in ("--json", "--store DIR", "-v, --verbose", "-h, --help"):
                    self.assertIn(option, text)
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 120)
        for command in commands:
            self.assertEqual(e2e.memcal("help", command).out, self.page(command))

    def test_aliases(self):
        self.assertEqual(self.page("dataset", "add"), self.page("corpus", "add"))

    def test_version(self):
        version = os.environ["MEMCAL_VERSION"]
        self.assertEqual(e2e.memcal("version").out, f"memcal {version}\n")
        self.assertEqual(e2e.memcal("--version").out, f"memcal {version}\n")
        found = e2e.memcal("version", "--json").json
        self.assertEqual((found["version"], found["protocol"], found["api"]["oldest"]), (version, 1, "1.41"))


class Manifests(unittest.TestCase):
    def test_list_and_show(self):
        for kind, names in (("harness", ["hermes-fts", "hermes-holographic", "hermes-none", "program-tiny"]),
                            ("provider", ["fts", "holographic"])):
            found = e2e.memcal(kind, "list", "--json").json
            self.assertEqual([m["name"] for m in found], names)
            lines = e2e.memcal(kind, "list").out.splitlines()
            self.assertEqual([line.split()[0] for line in lines], names)
            for name in names:
                shown = e2e.memcal(kind, "show", name)
                self.assertEqual(shown.code, 0, shown)
                self.assertEqual(shown.json["name"], name)
                self.assertTrue(shown.json["limits"]["start_s"] > 0, "defaults are filled in")
                self.assertEqual(shown.json, e2e.memcal(kind, "show", f"manifests/{'harnesses' if kind == 'harness' else 'providers'}/{name}.yaml", "--json").json)


class Corpora(unittest.TestCase):
    def test_add_list_show_export_rm(self):
        store = e2e.new_store(self).path
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="memcal-e2e-")))
        added = e2e.memcal("corpus", "add", "manifests/corpora/quickstart", "--json", store=store).json
        digest = added["digest"]
        self.assertRegex(digest, "^[0-9a-f]{64}$")
        self.assertEqual((added["lives"], added["files"]), (2, 11))
        again = e2e.memcal("corpus", "add", "manifests/corpora/quickstart", store=store)
        self.assertEqual((again.code, again.out.splitlines()[1]), (0, digest), "adding it twice is fine")
        found = e2e.memcal("corpus", "list", "--json", store=store).json
        self.assertEqual([(c["name"], c["digest"]) for c in found], [("quickstart", digest)])
        self.assertIn(digest, e2e.memcal("corpus", "list", store=store).out)
        for given in ("quickstart", digest, digest[:12], "manifests/corpora/quickstart"):
            shown = e2e.memcal("corpus", "show", given, "--json", store=store)
            self.assertEqual(shown.code, 0, shown)
            self.assertEqual((shown.json["digest"], [life["id"] for life in shown.json["lives"]]),
                             (digest, ["trivia-night", "trivia-night-control"]))
            self.assertNotIn("Anchor", shown.out, "the hidden rubric stays hidden")
            self.assertNotIn("rubric", shown.out)
        self.assertIn("trivia-night-control", e2e.memcal("dataset", "show", "quickstart", store=store).out)
        exported = e2e.memcal("corpus", "export", "quickstart", folder / "copy", "--json", store=store)
        self.assertEqual(exported.json, {"digest": digest, "files": 11})
        source = e2e.ROOT / "manifests" / "corpora" / "quickstart"
        for path in source.rglob("*"):
            if path.is_file():
                self.assertEqual((folder / "copy" / path.relative_to(source)).read_bytes(), path.read_bytes())
        valid = e2e.memcal("corpus", "validate", folder / "copy")
        self.assertEqual((valid.code, valid.out), (0, "0 errors, 0 warnings\n"))
        self.assertEqual(e2e.memcal("corpus", "validate", folder / "copy", "--json").json["errors"], 0)
        self.assertEqual(e2e.memcal("corpus", "rm", "quickstart", "--json", store=store).json, {"removed": digest})
        self.assertEqual(e2e.memcal("corpus", "list", "--json", store=store).json, [])
        self.assertEqual(e2e.memcal("corpus", "list", store=store).out,
                         "no corpora yet; add one with: memcal corpus add DIR\n")


class Plans:
    """Design section 4, as it would be asked of the engine."""

    QUICKSTART = "manifests/runs/quickstart.yaml"

    def test_plan_starts_nothing_and_confines_everything(self):
        store = e2e.new_store(self, self.engine)
        before = self.engine.holds(store.uuid())
        planned = e2e.memcal("run", self.QUICKSTART, "--plan", "--json", engine=self.engine, store=store.path)
        self.assertEqual((planned.code, planned.err), (0, ""), planned)
        self.assertEqual(self.engine.holds(store.uuid()), before)
        self.assertEqual(e2e.memcal("runs", "--json", store=store.path).json, [])
        plan = planned.json
        self.check_manifest(plan["manifest"])
        self.assertEqual([c["harness"] for c in plan["containers"]], ["hermes-none", "hermes-fts", "hermes-holographic"])
        images = {e["harness"]["name"]: e for e in plan["manifest"]["entrants"]}
        for planned in plan["containers"]:
            containers = planned["sandbox"]["containers"]
            roles = ["harness", "sidecar"] if planned["harness"] == "hermes-none" else ["harness", "provider", "sidecar"]
            self.assertEqual(sorted(containers), roles)
            for role, spec in containers.items():
                with self.subTest(harness=planned["harness"], role=role):
                    self.check_spec(spec, role, store.uuid())
                    if role == "sidecar":
                        self.assertEqual(spec["Image"], plan["manifest"]["sidecar_image"]["id"])
                    else:
                        self.assertEqual(spec["Image"], images[planned["harness"]][f"{role}_image"]["id"])
                        self.check_clock(spec)
            self.check_volumes(planned)
        self.assertFalse([word for word in ("token", "secret_value", "password") if word in json.dumps(plan["containers"])])
        return plan

    def check_manifest(self, manifest):
        self.assertEqual(len(manifest["trials"]), 6)
        self.assertEqual(manifest["memcal"], os.environ["MEMCAL_VERSION"])
        self.assertRegex(manifest["corpus"]["digest"], "^[0-9a-f]{64}$")
        for entrant in manifest["entrants"]:
            self.assertRegex(entrant["harness"]["digest"], "^[0-9a-f]{64}$")
            self.assertRegex(entrant["harness_image"]["id"], "^sha256:[0-9a-f]{64}$")
        self.assertEqual(manifest["engine"]["kind"].lower(), self.engine.name())

    def check_spec(self, spec, role, uuid):
        host = spec["HostConfig"]
        self.assertEqual(host["NetworkMode"], "none")
        self.assertEqual((host["ReadonlyRootfs"], host["Privileged"]), (True, False))
        self.assertEqual((host["CapDrop"], host["SecurityOpt"]), (["ALL"], ["no-new-privileges"]))
        self.assertEqual(host.get("CapAdd", []) + host.get("Devices", []) + host.get("Mounts", []), [])
        self.assertNotIn(spec["User"].split(":")[0], ("", "0", "root"))
        self.assertTrue(0 < host["PidsLimit"] <= 1024 and 0 < host["Memory"] == host["MemorySwap"])
        self.assertEqual(sorted(u["Name"] for u in host["Ulimits"]), ["core", "nofile", "nproc"])
        self.assertEqual(list(host["Tmpfs"]), ["/tmp"])
        self.assertEqual((spec["OpenStdin"], spec["StdinOnce"], spec["Tty"]), (True, True, False))
        self.assertEqual({k.removeprefix(e2e.LABEL): v for k, v in spec["Labels"].items()}, {
            "store": uuid, "run": "RUN", "trial": "RUN-t1", "attempt": "RUN-t1-a1", "role": role, "owner": "OWNER"})
        for bind in host["Binds"]:
            self.assertRegex(bind, "^memcal-RUN-t1-a1-[a-z-]+:/memcal/", "a volume of its own, never a path of the host")
        modes = {b.split(":")[1]: b.split(":")[2].split(",")[0] for b in host["Binds"]}
        if role != "sidecar":
            self.assertEqual(spec["Entrypoint"][0], "/memcal/bin/memcal-enter")
            for path in ("/memcal/bin", "/memcal/clock", "/memcal/net"):
                self.assertEqual(modes[path], "ro")
            self.assertEqual(modes["/memcal/out"], "rw")
            self.assertNotIn("/memcal/fresh/out-harness", modes)

    def check_clock(self, spec):
        env = dict(setting.split("=", 1) for setting in spec["Env"])
        self.assertEqual({k: v for k, v in env.items() if k != "LD_PRELOAD"}, {
            "TZ": "America/New_York", "FAKETIME_TIMESTAMP_FILE": "/memcal/clock/now", "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0", "FAKETIME_DISABLE_SHM": "1",
            "NO_FAKE_STAT": "1"})
        self.assertTrue(env["LD_PRELOAD"].endswith("/libfaketimeMT.so.1"))

    def check_volumes(self, planned):
        used = {bind.split(":")[0] for spec in planned["sandbox"]["containers"].values()
                for bind in spec["HostConfig"]["Binds"]}
        self.assertEqual(used, set(planned["sandbox"]["volumes"]), "all that is made is used")
        harness = planned["sandbox"]["containers"]["harness"]["HostConfig"]["Binds"]
        self.assertEqual(any(b.split(":")[1] == "/memcal/memory" for b in harness),
                         planned["harness"] == "hermes-holographic", "memory is shared only where the manifest says so")

    def test_same_plan_same_digest(self):
        store = e2e.new_store(self, self.engine)

        def digest(*args):
            return e2e.memcal("run", self.QUICKSTART, "--plan", *args, engine=self.engine, store=store.path).json["digest"]
        one = digest()
        self.assertEqual(one, digest())
        self.assertEqual(one, digest("--expect-plan", one))
        self.assertEqual(len({one, digest("-k", "2"), digest("--life", "trivia-night"), digest("--harness", "hermes-fts"),
                              digest("--budget", "1")}), 5, "another plan has another digest")

    def test_images(self):
        listed_images = e2e.memcal("image", "list", "--json", engine=self.engine).json
        self.assertTrue(set(e2e.IMAGES) <= {i["name"] for i in listed_images})
        here = {i["Id"] for i in self.engine.get("/images/json?all=1")}
        for image in listed_images:
            if image["id"]:
                self.assertIn(image["id"], here)
        lines = e2e.memcal("image", "list", engine=self.engine).out.splitlines()
        self.assertEqual([line.split()[0] for line in lines], [i["name"] for i in listed_images])

    def test_doctor(self):
        store = e2e.new_store(self)
        seen = e2e.memcal("doctor", engine=self.engine, store=store.path)
        self.assertEqual(seen.code, 0, seen)
        self.assertEqual(seen.out.splitlines()[-1], "all is well")
        self.assertIn(self.engine.host, seen.out)
        found = e2e.memcal("doctor", "--json", engine=self.engine, store=store.path).json
        self.assertTrue(all(f["good"] for f in found["findings"]))
        self.assertEqual(found["engine"]["kind"].lower(), self.engine.name())
        self.assertEqual(found["engine"]["version"], self.engine.get("/version")["Version"])
        self.assertEqual(found["tried"][0]["rule"], "DOCKER_HOST")

    def test_checks(self):
        before = self.engine.holds("")
        for args in (("harness", "check", "program-tiny"), ("provider", "check", "fts")):
            with self.subTest(args=args):
                text = e2e.memcal(*args, engine=self.engine)
                self.assertEqual((text.code, text.out.splitlines()[-1]), (0, "all checks passed"), text)
                found = e2e.memcal(*args, "--json", engine=self.engine).json
                self.assertTrue(found and all(check["passed"] for check in found), found)
                self.assertEqual({"check", "expected", "seen", "passed"}, set(found[0]))
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="memcal-e2e-"))
        broken = e2e.memcal("harness", "check", manifests.harness(folder, "broken", "nonsense"), engine=self.engine)
        self.assertEqual((broken.code, broken.out.splitlines()[-1]), (3, "the program does not keep to the protocol"))
        self.assertRegex(broken.out, r"(?m)^FAIL  turn +expected: done; seen: failed: the harness broke the protocol: ")
        self.assertEqual(self.engine.holds(""), before)


class Runs:
    """A small run, and all that can be asked about it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="memcal-e2e-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.store = pathlib.Path(cls.folder.name) / "store"
        runfile = manifests.run(cls.folder.name, *[manifests.harness(cls.folder.name, n) for n in ("one", "two")])
        cls.text = e2e.memcal("run", runfile, engine=cls.engine, store=cls.store)
        if cls.text.code != 0:
            raise AssertionError(cls.text)
        cls.run_id = e2e.Store(cls.store).one("SELECT id FROM runs")["id"]
        cls.report = e2e.Store(cls.store).report(cls.run_id)

    def memcal(self, *args):
        return e2e.memcal(*args, store=self.store, engine="unix:///nonexistent")

    def test_run_prints_the_comparison_and_where_the_report_is(self):
        out = self.text.out
        self.assertTrue(out.endswith(f"\nrun {self.run_id}\nreport {self.store}/runs/{self.run_id}/report.md\n"), out)
        for word in ("one", "two", "script/extractive"):
            self.assertIn(word, out)
        self.assertIn("[1/2] brief, one: completed", self.text.err)

    def test_runs(self):
        found = self.memcal("runs", "--json").json
        self.assertEqual([(r["id"], r["state"], r["exit_code"]) for r in found], [(self.run_id, "finished", 0)])
        self.assertEqual(self.memcal("runs").out.split()[:3], [self.run_id, "finished", "run"])

    def test_show(self):
        for given in (self.run_id, self.run_id[:12], "last"):
            shown = self.memcal("show", given, "--json")
            self.assertEqual(shown.code, 0, shown)
            self.assertEqual(shown.json["run"]["id"], self.run_id)
            self.assertEqual(len(shown.json["trials"]), 2)
            text = self.memcal("show", given)
            self.assertEqual(text.code, 0, text)
            self.assertTrue(text.out.endswith(f"\nrun {self.run_id}\nreport {self.store}/runs/{self.run_id}/report.md\n"))

    def test_show_one_cell(self):
        cell = f"{self.run_id}/brief/two"
        shown = self.memcal("show", cell, "--json")
        self.assertEqual(shown.code, 0, shown)
        self.assertEqual({t["harness"] for t in shown.json["trials"]}, {"two"})
        self.assertEqual([h["name"] for h in shown.json["harnesses"]], ["two"])
        text = self.memcal("show", cell)
        self.assertEqual(text.code, 0, text)
        for words in ("At desk 14.", "At which desk does the book wait?"):
            self.assertIn(words, text.out)

    def test_show_what_is_not_there(self):
        for cell, text, hint in (
                ("last/other/one", f'the run {self.run_id} is of the corpus "brief", not of "other"',
                 "write the cell as last/brief/one"),
                ("last/one", '"last/one" is no cell',
                 "write it as RUN/CORPUS/HARNESS, such as last/quickstart/hermes-fts"),
                ("last/brief/three", f'the run {self.run_id} has no harness "three"',
                 f'"memcal show {self.run_id}" lists them')):
            shown = self.memcal("show", cell)
            self.assertEqual((shown.code, shown.out, shown.err), (2, "", f"memcal: {text}: {hint}\n"))


e2e.on_each_engine(Plans)
e2e.on_each_engine(Runs)

if __name__ == "__main__":
    e2e.main()
