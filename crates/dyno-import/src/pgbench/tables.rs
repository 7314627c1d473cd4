//! The tables that `pgbench -i` creates, as described tables, so that each engine fills them by its bulk
//! path.

/// The names of pgbench's tables.
pub(super) const TABLES: [&str; 4] =
    ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

/// The tables, in the syntax of `workload.toml`.
pub(super) const DESCRIBED: &str = "
# The tables of pgbench -i.
[table.pgbench_branches]
rows = \"scale\"
primary_key = \"bid\"
[table.pgbench_branches.columns]
bid      = { type = \"integer\", expr = \"row\" }
bbalance = { type = \"integer\", value = 0 }
filler   = { type = \"char(88)\", text = 88, null_pct = 100 }

[table.pgbench_tellers]
rows = \"10 * scale\"
primary_key = \"tid\"
[table.pgbench_tellers.columns]
tid      = { type = \"integer\", expr = \"row\" }
bid      = { type = \"integer\", expr = \"(row - 1) / 10 + 1\" }
tbalance = { type = \"integer\", value = 0 }
filler   = { type = \"char(84)\", text = 84, null_pct = 100 }

[table.pgbench_accounts]
rows = \"100000 * scale\"
primary_key = \"aid\"
[table.pgbench_accounts.columns]
aid      = { type = \"integer\", expr = \"row\" }
bid      = { type = \"integer\", expr = \"(row - 1) / 100000 + 1\" }
abalance = { type = \"integer\", value = 0 }
filler   = { type = \"char(84)\", value = \"\" }

[table.pgbench_history]
rows = 0
[table.pgbench_history.columns]
tid    = { type = \"integer\", value = 0 }
bid    = { type = \"integer\", value = 0 }
aid    = { type = \"integer\", value = 0 }
delta  = { type = \"integer\", value = 0 }
mtime  = { type = \"timestamp\", timestamp = [\"2026-01-01 00:00:00\", \"2026-12-31 23:59:59\"], null_pct = 100 }
filler = { type = \"char(22)\", text = 22, null_pct = 100 }
";

/// Invariants under the built-in scripts, each with name and SQL. Only for the built-in scripts is it known
/// which sums they change equally.
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
