"""Taking one person out of every store, and proving it (see retention/README.md)."""
