//! The tables of pgbench, by the steps that its manual describes for `pgbench -i`: dropped, created, filled, given their keys.

/// Names of the tables.
pub(super) const TABLES: [&str; 4] =
    ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

/// Rows of the accounts and of the tellers for each of the branches.
const ACCOUNTS: u64 = 100_000;
const TELLERS: u64 = 10;

/// Digits of which rows are made.
const DIGITS: &str = "pgbench_digits";

/// SQL that creates and fills the tables for `scale` branches, on every engine.
pub(super) fn setup(scale: u32) -> String {
    let places = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    // Branches are made of so many digits as their number has.
    let digits = scale.to_string().len();
    let number = |places: &[&str]| {
        let of = |(power, place): (usize, &&str)| match power {
            0 => format!("{place}.n"),
            _ => format!("{} * {place}.n", 10u64.pow(power as u32)),
        };
        places.iter().enumerate().map(of).collect::<Vec<_>>().join(" + ")
    };
    let from = |places: &[&str]| {
        places.iter().map(|place| format!("{DIGITS} {place}")).collect::<Vec<_>>().join(", ")
    };
    let branches = &places[..digits];
    let accounts = &places[..ACCOUNTS.ilog10() as usize];
    format!(
        "\
-- The tables of pgbench with a scale of {scale}: {scale} branches, {tellers} tellers, {all} accounts, no history.

CREATE TABLE pgbench_branches (bid INT NOT NULL, bbalance INT, filler CHAR(88));
CREATE TABLE pgbench_tellers (tid INT NOT NULL, bid INT, tbalance INT, filler CHAR(84));
CREATE TABLE pgbench_accounts (aid INT NOT NULL, bid INT, abalance INT, filler CHAR(84));
CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP NULL, filler CHAR(22));

CREATE TABLE {DIGITS} (n INT NOT NULL);
INSERT INTO {DIGITS} VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);

INSERT INTO pgbench_branches (bid, bbalance)
SELECT n + 1, 0 FROM (SELECT {of_branches} AS n FROM {from_branches}) numbers WHERE n < {scale};

INSERT INTO pgbench_tellers (tid, bid, tbalance)
SELECT (bid - 1) * {TELLERS} + t.n + 1, bid, 0 FROM pgbench_branches, {DIGITS} t;

INSERT INTO pgbench_accounts (aid, bid, abalance, filler)
SELECT (bid - 1) * {ACCOUNTS} + {of_accounts} + 1, bid, 0, ''
  FROM pgbench_branches, {from_accounts} ORDER BY 1;

DROP TABLE {DIGITS};

",
        tellers = u64::from(scale) * TELLERS,
        all = u64::from(scale) * ACCOUNTS,
        of_branches = number(branches),
        from_branches = from(branches),
        of_accounts = number(accounts),
        from_accounts = from(accounts),
    )
}

/// Primary keys, where a table can be given one when it is filled.
const KEYS: &str = "\
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
";

/// The same for SQLite, whose tables have theirs from the beginning or as an index.
const KEYS_SQLITE: &str = "\
CREATE UNIQUE INDEX pgbench_branches_pkey ON pgbench_branches (bid);
CREATE UNIQUE INDEX pgbench_tellers_pkey ON pgbench_tellers (tid);
CREATE UNIQUE INDEX pgbench_accounts_pkey ON pgbench_accounts (aid);
";

/// Statistics of what was loaded; pgbench does it with its step `v`.
const VACUUM: &str = "
VACUUM ANALYZE pgbench_branches;
VACUUM ANALYZE pgbench_tellers;
VACUUM ANALYZE pgbench_accounts;
VACUUM ANALYZE pgbench_history;
";

/// SQL that drops the tables.
const DROP: &str = "\
DROP TABLE pgbench_history;
DROP TABLE pgbench_accounts;
DROP TABLE pgbench_tellers;
DROP TABLE pgbench_branches;
";

/// Files that make and drop the tables.
pub(super) fn files(scale: u32) -> Vec<(String, String)> {
    let made = setup(scale);
    [
        ("setup.sql", format!("{made}{KEYS}")),
        ("setup.postgres.sql", format!("{made}{KEYS}{VACUUM}")),
        ("setup.sqlite.sql", format!("{made}{KEYS_SQLITE}")),
        ("drop.sql", DROP.to_owned()),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .to_vec()
}

/// What stays the same under the built-in scripts: the name and the SQL of each. The tables whose sums each script moves alike
/// are known of the built-in ones alone.
pub(super) fn invariants(moves_all: bool, moves_accounts: bool) -> Vec<(&'static str, String)> {
    let sum = |column: &str, table: &str| format!("(SELECT COALESCE(SUM({column}), 0) FROM pgbench_{table})");
    let less = |column: &str, table: &str| {
        format!("SELECT {} - {}", sum("abalance", "accounts"), sum(column, table))
    };
    let mut all = Vec::new();
    if moves_all || moves_accounts {
        all.push(("history", less("delta", "history")));
    }
    if moves_all && !moves_accounts {
        all.push(("tellers", less("tbalance", "tellers")));
        all.push(("branches", less("bbalance", "branches")));
    }
    all
}
