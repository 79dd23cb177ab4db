"""The purge: step by step, batch by batch, each with its checkpoint (see retention/README.md)."""
