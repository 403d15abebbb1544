"""The schema of a campaign's index, as migrations. An old index gets the migrations that it lacks."""

from __future__ import annotations

MIGRATIONS = (
    """
    CREATE TABLE origins (
        id INTEGER PRIMARY KEY,
        campaign TEXT NOT NULL UNIQUE,  -- a random name that it got when it began
        seed INTEGER NOT NULL,
        next_test INTEGER NOT NULL,
        tally TEXT NOT NULL             -- JSON of `Tally`
    );
    CREATE TABLE lanes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE tests (
        origin INTEGER NOT NULL, number INTEGER NOT NULL, cpu_ms INTEGER NOT NULL,
        PRIMARY KEY (origin, number)
    ) WITHOUT ROWID;
    CREATE TABLE outcomes (
        origin INTEGER NOT NULL, test INTEGER NOT NULL, lane INTEGER NOT NULL, how TEXT NOT NULL, stage TEXT,
        PRIMARY KEY (origin, test, lane)
    ) WITHOUT ROWID;
    CREATE TABLE findings (signature TEXT PRIMARY KEY, slug TEXT NOT NULL, origin INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE counts (
        kind TEXT NOT NULL,             -- 'finding' by signature, 'known' by the name of its entry
        name TEXT NOT NULL, origin INTEGER NOT NULL, tests INTEGER NOT NULL,
        PRIMARY KEY (kind, name, origin)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE features (
        name TEXT PRIMARY KEY, origin INTEGER NOT NULL, first_test INTEGER NOT NULL, tests INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE progress (             -- the books as they were, now and then: what curves are drawn of
        origin INTEGER NOT NULL, seconds INTEGER NOT NULL,  -- of the campaign's wall clock, over all its runs
        tests INTEGER NOT NULL, lane_results INTEGER NOT NULL, features INTEGER NOT NULL, findings INTEGER NOT NULL,
        cpu_seconds INTEGER NOT NULL,
        PRIMARY KEY (origin, seconds)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE operators (            -- how lanes came out with graphs that hold an operator
        origin INTEGER NOT NULL, op TEXT NOT NULL, lane INTEGER NOT NULL, how TEXT NOT NULL, outcomes INTEGER NOT NULL,
        PRIMARY KEY (origin, op, lane, how)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE corpus (               -- cases that showed something new, by digest; the cases are files
        digest TEXT PRIMARY KEY, origin INTEGER NOT NULL,
        showed TEXT NOT NULL,           -- JSON: names of features
        picked INTEGER NOT NULL, stuck INTEGER NOT NULL, fresh INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    DROP TABLE corpus;                  -- books of a guidance that is no more; the cases lie in corpus/ as before
    CREATE TABLE hazards (              -- how likely an operator stops an importer's lanes
        origin INTEGER NOT NULL, road TEXT NOT NULL, op TEXT NOT NULL, dtype TEXT NOT NULL,  -- '' for every dtype
        met REAL NOT NULL, blamed REAL NOT NULL,
        PRIMARY KEY (origin, road, op, dtype)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE outcomes_in_turn (     -- lanes that are drawn for one test have one name: `turn` numbers them
        origin INTEGER NOT NULL, test INTEGER NOT NULL, lane INTEGER NOT NULL, turn INTEGER NOT NULL,
        how TEXT NOT NULL, stage TEXT,
        PRIMARY KEY (origin, test, lane, turn)
    ) WITHOUT ROWID;
    INSERT INTO outcomes_in_turn SELECT origin, test, lane, 0, how, stage FROM outcomes;
    DROP TABLE outcomes;
    ALTER TABLE outcomes_in_turn RENAME TO outcomes;
    """,
    """
    CREATE TABLE notable_tests (        -- cases with lanes that showed the compiler doing something new
        origin INTEGER NOT NULL, test INTEGER NOT NULL,
        document BLOB NOT NULL,         -- `fuzzer.campaign.notable_tests.NotableTest`, compressed
        PRIMARY KEY (origin, test)
    );
    """,
)
"""Each changes the schema from one version to the next. `user_version` of an index is the number of migrations that it
has had. A migration is never changed after its commit, not even a comment: indexes have been made with it. `Tally` in
the first is `fuzzer.campaign.store.counters.Counters`; a road is a route."""
