CREATE TABLE IF NOT EXISTS object (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    body TEXT NOT NULL,
    hidden TEXT NOT NULL
);
-- Lists run newest first; each filter below is one that the API offers.
CREATE INDEX IF NOT EXISTS object_newest ON object (kind, created, seq);
CREATE INDEX IF NOT EXISTS object_charge ON object (kind, json_extract(body, '$.charge'));
CREATE INDEX IF NOT EXISTS object_intent ON object (kind, json_extract(body, '$.payment_intent'));
CREATE INDEX IF NOT EXISTS object_customer ON object (kind, json_extract(body, '$.customer'));
CREATE INDEX IF NOT EXISTS object_source ON object (kind, json_extract(body, '$.source'));
CREATE INDEX IF NOT EXISTS object_type ON object (kind, json_extract(body, '$.type'));

CREATE TABLE IF NOT EXISTS search_copy (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS search_copy_kind ON search_copy (kind, written_at);

-- A key whose answer is null is still running.
CREATE TABLE IF NOT EXISTS idempotency_key (
    key TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    request_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status INTEGER,
    answer TEXT,
    CHECK ((status IS NULL) = (answer IS NULL))
);

CREATE TABLE IF NOT EXISTS request (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT,
    params TEXT NOT NULL,
    status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    fault TEXT
);

CREATE TABLE IF NOT EXISTS fault (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    event_type TEXT NOT NULL,
    pass_first INTEGER NOT NULL,
    times INTEGER NOT NULL,
    options TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS delivery (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'held', 'delivered', 'failed', 'lost')),
    -- For a held one: the type of the event that it waits to be overtaken by.
    held_for TEXT NOT NULL DEFAULT '*',
    is_forged INTEGER NOT NULL DEFAULT 0,
    attempts TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX IF NOT EXISTS delivery_due ON delivery (state, due_at, seq);
CREATE INDEX IF NOT EXISTS delivery_event ON delivery (event_id);

CREATE TABLE IF NOT EXISTS scheduled (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    due_at INTEGER NOT NULL,
    action TEXT NOT NULL,
    object_id TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
