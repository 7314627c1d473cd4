//! Options of the import: the tool, and settings that its file does not contain.

use dyno_plan::engine::Engines;

/// The tool that a file configures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kit {
    /// SLOB 2.0 to 2.5, for Oracle.
    Slob,
    /// pgio for PostgreSQL, all its versions.
    Pgio,
}

dyno_plan::names! {
    /// Its name as shown to users: `SLOB`.
    Kit { Slob = "SLOB", Pgio = "pgio" }
}

impl std::str::FromStr for Kit {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "slob" => Ok(Self::Slob),
            "pgio" => Ok(Self::Pgio),
            other => Err(format!("there is no kit {other:?}: write slob or pgio")),
        }
    }
}

/// Settings that the file does not contain.
#[derive(Debug, Clone, Default)]
pub struct KitImportOptions {
    /// Engines whose URLs the plan may use.
    pub engines: Engines,
    /// The tool; absent to detect it by the file's parameters.
    pub kit: Option<Kit>,
    /// The target's URL; replaces the connection settings of the file.
    pub target: Option<String>,
    /// Number of schemas: the argument of `runit.sh`, or its option `-s`.
    pub schemas: Option<u32>,
    /// Sessions per schema: the option `-t` of `runit.sh`.
    pub sessions: Option<u32>,
    /// Ignore lines that cannot be parsed and unknown parameters instead of refusing the file.
    pub lenient: bool,
}
