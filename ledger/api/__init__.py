"""Effects over HTTP: begin, sent, settle, look up, and how staff answered what the guard asked."""
