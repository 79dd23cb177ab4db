"""Cutting secrets out of what comes in, before anything is digested, matched or stored (docs/privacy.md)."""
