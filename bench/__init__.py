"""Measurements beside a flat table: one module each, with a `main(arguments)`."""
