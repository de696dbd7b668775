"""Loaded by Hermes from HERMES_HOME/plugins; the guard itself is the driver's."""

from hermes_driver.guarding import GUARD


def register(ctx):
    GUARD.register(ctx)
