"""The search box: what was pasted, every place of each id in it, and texts that hold its words."""
