"""The console's small parts as functions that return HTML; `{% load console %}` offers them as tags."""
