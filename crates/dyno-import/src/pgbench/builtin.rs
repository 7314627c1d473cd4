//! The built-in scripts of pgbench, as its manual describes them.

/// A built-in script of pgbench.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its full name: `tpcb-like`.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// Its commands, in the syntax of pgbench.
    pub script: &'static str,
}

/// All built-in scripts of pgbench.
pub const BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        about: "one account, its teller and its branch are changed, and a line of history is added",
        script: "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "simple-update",
        about: "one account is changed, and a line of history is added",
        script: "\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
",
    },
    Builtin {
        name: "select-only",
        about: "the balance of one account is read",
        script: "\\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
",
    },
];

/// The built-in script whose name begins with `name`; `None` if there is not exactly one.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    let mut matches = BUILTINS.iter().filter(|builtin| !name.is_empty() && builtin.name.starts_with(name));
    let first = matches.next()?;
    matches.next().is_none().then_some(first)
}
