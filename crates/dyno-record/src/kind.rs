//! What a record is of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a record is of. All kinds have hosts, metrics, a series and an audit in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A window of operations on databases, measured by this program.
    Run,
    /// Figures that another program measured; `imported` says where they come from.
    Import,
    /// Limits of a component, measured without a database: there is no plan, target or window, and `calibration` has the figures.
    Component,
    /// What a database did by itself while somebody looked on: present use, without any load of this program.
    Watch,
}

impl Kind {
    /// Whether a record of the kind called `name` can be read.
    pub(crate) fn is_known(name: &str) -> bool {
        matches!(name, "run" | "import" | "component" | "watch")
    }
}
