//! What may be thought of a figure at a glance, as one of four colours that mean the same wherever figures are shown.

use serde::{Deserialize, Serialize};

/// The colour of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Green: audited, quiet, and without a reservation.
    Good,
    /// Grey: imported, and audited by nobody here.
    Imported,
    /// Amber: repeats lie apart, the audit warned, or something else is to be known with it.
    #[default]
    Warned,
    /// Red: there is no valid result.
    Invalid,
}

impl Tone {
    /// The word for it, which says the same as the colour.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "audited",
            Self::Imported => "imported, not audited",
            Self::Warned => "with reservations",
            Self::Invalid => "invalid",
        }
    }
}
