"""Exports into the store: planned in memory, written by COPY, once only.

`planning` turns one read conversation into what is to be written beside what
the store holds already; `rows` lays that out as rows; `writing` copies a batch;
`importing` goes through the documents and keeps the report.
"""
