"""The bytes of cold conversations, in one file each: how they lie there, and how they are read."""
