/** Tables of shared state. Members are not among them: whoever opens the file knows that all former ones are gone. */
export const SHARED_SCHEMA: readonly string[] = [
  `
  CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    owner TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX entries_expiry ON entries (expires_at);

  CREATE TABLE logs (
    log TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX logs_expiry ON logs (expires_at);

  CREATE TABLE log_items (
    log TEXT NOT NULL REFERENCES logs ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    text TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (log, sequence)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE open_calls (
    call TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    member TEXT NOT NULL,
    facts TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX open_calls_session ON open_calls (session);
  CREATE INDEX open_calls_expiry ON open_calls (expires_at);

  CREATE TABLE named_calls (
    key TEXT PRIMARY KEY,
    call TEXT NOT NULL,
    member TEXT NOT NULL,
    digest TEXT NOT NULL,
    answer TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX named_calls_expiry ON named_calls (expires_at);
  `,
  // An answer in each of its rooms, in the order in which they came, and what there is in a room altogether.
  `
  CREATE TABLE kept_answers (
    number INTEGER PRIMARY KEY,
    room TEXT NOT NULL,
    key TEXT NOT NULL REFERENCES named_calls ON DELETE CASCADE,
    bytes INTEGER NOT NULL,
    UNIQUE (key, room)
  ) STRICT;
  CREATE INDEX kept_answers_room ON kept_answers (room, number);

  CREATE TABLE kept_rooms (
    room TEXT PRIMARY KEY,
    items INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;

  CREATE TRIGGER kept_answer_comes AFTER INSERT ON kept_answers BEGIN
    INSERT INTO kept_rooms VALUES (NEW.room, 1, NEW.bytes)
      ON CONFLICT DO UPDATE SET items = items + 1, bytes = bytes + NEW.bytes;
  END;
  CREATE TRIGGER kept_answer_goes AFTER DELETE ON kept_answers BEGIN
    UPDATE kept_rooms SET items = items - 1, bytes = bytes - OLD.bytes WHERE room = OLD.room;
    DELETE FROM kept_rooms WHERE room = OLD.room AND items = 0;
  END;
  `,
];

/** Tables whose rows end by themselves. */
export const EXPIRING_TABLES: readonly string[] = ["entries", "logs", "open_calls", "named_calls"];
