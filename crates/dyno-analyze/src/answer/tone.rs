//! The tone of a figure: four colors that mean the same wherever figures are shown.

use serde::{Deserialize, Serialize};

/// The color of a summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Green: audited, quiet, and without a reservation.
    Good,
    /// Gray: imported, so Dyno did not audit it.
    Imported,
    /// Amber: repeats differ much, the audit warned, or another reservation applies.
    #[default]
    Warned,
    /// Red: there is no valid result.
    Invalid,
}

impl Tone {
    /// The word for the tone; it carries the same information as the color.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "audited",
            Self::Imported => "imported, not audited",
            Self::Warned => "with warnings",
            Self::Invalid => "invalid",
        }
    }
}
