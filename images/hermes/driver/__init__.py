"""The Hermes driver: runs the real Hermes Agent in process as a memcal harness (docs/protocol.md)."""

HERMES_VERSION = "0.19.0"
