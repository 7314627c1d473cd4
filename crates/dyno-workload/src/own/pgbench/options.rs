//! What is asked of a translation.

/// A script that is to be translated.
#[derive(Debug, Clone)]
pub struct Script {
    /// Its file as the user has named it, or the name of a built-in one.
    pub name: String,
    /// Its commands.
    pub text: String,
    /// How often it comes, against the others.
    pub weight: u32,
    /// Whether it is built into pgbench.
    pub is_builtin: bool,
}

/// What is asked of a translation.
#[derive(Debug, Clone)]
pub struct Options {
    /// The workload's name.
    pub name: String,
    /// pgbench's scale: the number of branches.
    pub scale: u32,
    /// Whether the tables of pgbench are described, where a script has one of them.
    pub tables: bool,
    /// Variables with their values, as -D gives them.
    pub variables: Vec<(String, String)>,
}
