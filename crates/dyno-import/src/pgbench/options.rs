//! Options of a conversion.

/// One script to convert into a transaction.
#[derive(Debug, Clone)]
pub struct PgbenchScript {
    /// Its file as the user named it, or the name of a built-in script.
    pub name: String,
    /// Its commands, in the syntax of pgbench.
    pub text: String,
    /// Its weight relative to the other scripts.
    pub weight: u32,
    /// Whether it is built into pgbench.
    pub is_builtin: bool,
}

/// Options of a conversion from pgbench.
#[derive(Debug, Clone)]
pub struct PgbenchOptions {
    /// The name that the written workload gets.
    pub name: String,
    /// pgbench's scale: the number of branches.
    pub scale: u32,
    /// Whether to describe pgbench's tables if a script uses them.
    pub tables: bool,
    /// Variables with values, from option -D.
    pub variables: Vec<(String, String)>,
}
