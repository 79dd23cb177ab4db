"""The pages of the reconciliation: statements, runs, the desk of findings, abandoned charges."""
