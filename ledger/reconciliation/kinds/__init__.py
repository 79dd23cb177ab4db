"""What a run can find: one module for each kind.

Those of comparing say what differs about one movement; those of the ledger look for
themselves, whatever the statements say.
"""
