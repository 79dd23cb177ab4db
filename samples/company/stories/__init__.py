"""The told stories, one per file; each is a function of the day on which the samples are loaded."""
