-- The vault: root keys, grants and what hangs on them. Run at every open. Times are seconds since the epoch.
-- No token, code or secret of a client stands here, only SHA-256 of them. The root keys alone are secret.
CREATE TABLE IF NOT EXISTS vault_meta (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS root_keys (
  id    INTEGER PRIMARY KEY, -- 1, 2, 3 and so on: the highest one is current
  bytes BLOB NOT NULL,
  made  INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS grants (
  id            INTEGER PRIMARY KEY,
  client_id     TEXT NOT NULL,
  client_name   TEXT NOT NULL,
  redirect_uri  TEXT NOT NULL,    -- the authorization request's, byte for byte
  identity_base TEXT NOT NULL,    -- the GitHub instance that vouched
  github_id     INTEGER NOT NULL,
  login         TEXT NOT NULL,
  audience      INTEGER NOT NULL,
  epoch         INTEGER NOT NULL,
  created       INTEGER NOT NULL,
  last_used     INTEGER NOT NULL,
  expires       INTEGER NOT NULL, -- slides with each refresh
  revoked       TEXT,             -- why, when it is
  revoked_at    INTEGER,
  code          BLOB UNIQUE,
  code_expires  INTEGER NOT NULL,
  code_used     INTEGER,
  code_failures INTEGER NOT NULL DEFAULT 0,
  challenge     TEXT NOT NULL,
  refresh       BLOB UNIQUE,      -- the head of the chain
  generation    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS retired (
  refresh    BLOB PRIMARY KEY,
  grant_id   INTEGER NOT NULL,
  generation INTEGER NOT NULL,    -- the successor's generation is one higher
  root_key   INTEGER NOT NULL,    -- which key derived the successor
  asked      INTEGER,             -- the audience asked for then, which the access token was derived from
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS retired_by_grant ON retired (grant_id, generation);
CREATE TABLE IF NOT EXISTS access (
  token      BLOB PRIMARY KEY,
  grant_id   INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  audience   INTEGER NOT NULL,
  created    INTEGER NOT NULL,
  expires    INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS access_by_grant ON access (grant_id, created);
CREATE INDEX IF NOT EXISTS access_by_expiry ON access (expires);
CREATE TABLE IF NOT EXISTS flows (
  id       BLOB PRIMARY KEY,      -- completed ones only: a flow is good once
  grant_id INTEGER NOT NULL,
  done     INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS flows_by_time ON flows (done);
CREATE TABLE IF NOT EXISTS pins (
  identity  TEXT PRIMARY KEY,     -- GitHub instance and login, as first seen
  github_id INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS documents (
  url  TEXT PRIMARY KEY,          -- client metadata of clients that were granted access
  body TEXT NOT NULL,
  at   INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS nonces (
  access_key TEXT NOT NULL,
  nonce      TEXT NOT NULL,
  expires    INTEGER NOT NULL,
  PRIMARY KEY (access_key, nonce)
) STRICT;
CREATE INDEX IF NOT EXISTS nonces_by_expiry ON nonces (expires);
CREATE TABLE IF NOT EXISTS denied_clients (
  client_id TEXT PRIMARY KEY,
  at        INTEGER NOT NULL
) STRICT;
