"""The long proofs: one module each, with a `main(arguments)` that ends with one line of figures."""
