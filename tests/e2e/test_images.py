"""Puts memcal's images on every engine under test: built on the first one, moved from there by save and load."""

import os
import pathlib
import tempfile
import unittest

import e2e


def ids(engine):
    listed = e2e.memcal("image", "list", "--json", engine=engine)
    if listed.code != 0:
        raise AssertionError(listed)
    return {image["name"]: image["id"] for image in listed.json}


class Images(unittest.TestCase):
    def test_every_engine_has_them(self):
        first, *others = e2e.engines()
        # The cache of wheels is the user's: without it a hundred packages are fetched again.
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        built = e2e.memcal("image", "build", engine=first, env={"XDG_CACHE_HOME": cache}, timeout=1800)
        self.assertEqual(built.code, 0, built)
        wanted = ids(first)
        self.assertEqual([name for name in e2e.IMAGES if not wanted.get(name)], [])
        for engine in others:
            missing = [name for name, image in ids(engine).items() if image != wanted[name]]
            if missing:
                self.move(first, engine, missing)
            self.assertEqual(ids(engine), wanted, "one image has the same ID on every engine")

    def move(self, first, engine, names):
        with tempfile.TemporaryDirectory() as folder:
            tar = pathlib.Path(folder) / "images.tar"
            saved = e2e.memcal("image", "save", tar, *names, engine=first)
            self.assertEqual((saved.code, saved.out), (0, ""), saved)
            loaded = e2e.memcal("image", "load", tar, engine=engine)
            self.assertEqual(loaded.code, 0, loaded)


if __name__ == "__main__":
    e2e.main()
