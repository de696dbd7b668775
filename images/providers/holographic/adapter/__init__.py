"""Adapter for the holographic memory that comes with Hermes: fills the store that Hermes then reads from the shared volume."""
