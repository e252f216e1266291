create table if not exists schema_version (
    -- One row: the version of everything below. `user_version` is not allowed in a Durable Object.
    version integer not null
) strict;

create table if not exists sequence (
    sequence integer primary key,  -- never leaves the store
    lookup blob not null unique,   -- SHA-256 of the id: the id itself is nowhere
    title blob not null,           -- sealed
    origin blob,                   -- sealed note of an import
    created_at integer not null,   -- milliseconds since 1970
    -- No later than the newest thought's time, and refreshed only by the retention alarm: an append does not touch it.
    written_at integer not null
) strict;
create index if not exists sequence_by_age on sequence (written_at);

create table if not exists branch (
    -- `main` is branch 0 of every sequence and has no row.
    sequence integer not null,
    branch integer not null,       -- 1, 2, … in the order of creation
    name_match blob not null,      -- HMAC of the name under the sequence's key
    name blob not null,            -- sealed
    parent integer not null,       -- the branch that owns the thought forked from
    fork_ordinal integer not null,
    fork_number integer not null,
    primary key (sequence, branch)
) strict, without rowid;
create unique index if not exists branch_by_name on branch (sequence, name_match);

create table if not exists thought (
    -- Rows are never updated: each carries the state of its branch and sequence after it, so that an append
    -- reads the two newest rows and writes one, however long the sequence is. What is null or 0 in most rows need not be named.
    place integer primary key,            -- sequence * 2^22 + ordinal
    sequence integer not null,
    branch integer not null default 0,
    number integer not null,              -- as the caller counts on this branch
    total integer not null,
    position integer not null,            -- place on the active path, ancestors included; a rewind takes its target's
    stretch integer not null default 0,   -- ordinal of the branch's newest rewind, this one included; 0 before the first
    steps integer not null,               -- the same, revisions in place not counted
    created_at integer not null,
    call_id blob not null,                -- of the call that wrote it
    repeat_match blob not null,           -- HMAC of the call's content
    next_needed integer not null,
    finished integer not null default 0,  -- the branch is complete after this thought
    needs_more integer not null default 0,
    forks integer not null default 0,     -- this call named the branch's fork
    revises_branch integer,               -- the resolved target
    revises_ordinal integer,
    revises_number integer,
    revises_root integer,                 -- the first thought of a chain of revisions
    revision_index integer,               -- 1 for the first revision of the root
    rewind integer not null default 0,    -- supersedes revises_ordinal and all later active thoughts of the branch
    superseded integer,                   -- how many that were
    summarizes_through integer,           -- number, as the caller said
    summarized integer not null default 0,-- position up to which the branch's active thoughts are summed up
    warnings integer not null default 0,  -- bits of the warnings in the first answer
    -- The state of the whole sequence after this thought:
    largest_total integer not null,
    open_branches integer not null default 0,
    main_finished integer not null default 0,
    rewinds integer not null default 0,
    -- Null in the trunk: the first thoughts of a sequence, as long as each lies on `main`, is numbered by its ordinal, and
    -- nothing is set aside. Their places say all that an index could. After them, how many they are.
    trunk integer,
    text blob not null                    -- sealed; last, so that the rest is read without it
) strict;
create index if not exists thought_by_branch on thought (sequence, branch) where trunk is not null;
create index if not exists thought_by_number on thought (sequence, branch, number) where trunk is not null;
create index if not exists thought_by_position on thought (sequence, branch, position) where trunk is not null;
create index if not exists thought_by_root on thought (sequence, revises_root) where revises_root is not null;
create index if not exists thought_by_revision on thought (sequence) where revises_root is not null;
create index if not exists thought_by_summary on thought (sequence, branch) where summarizes_through is not null;
