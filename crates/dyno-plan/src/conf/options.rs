//! Whose configuration is read, and what it does not say.

use crate::engine::Engines;

/// Whose configuration a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kit {
    /// SLOB 2.0 to 2.5, for Oracle.
    Slob,
    /// pgio, for PostgreSQL.
    Pgio,
}

crate::names! {
    /// Its name: `SLOB`.
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

/// What the file does not say.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The engines that a plan can name.
    pub engines: Engines,
    /// Whose file it is; none to tell by its parameters.
    pub kit: Option<Kit>,
    /// The target's URL instead of what the file says of it.
    pub target: Option<String>,
    /// Schemas: what `runit.sh` got as its argument, or behind `-s`.
    pub schemas: Option<u32>,
    /// Sessions on each schema: what `runit.sh` got behind `-t`.
    pub sessions: Option<u32>,
    /// Leave out lines that are not understood, and parameters that the kit does not have, instead of refusing the file.
    pub lenient: bool,
}
