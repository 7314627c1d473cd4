//! The kinds of records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a record. All kinds have hosts, metrics, a series and an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// A window of operations on databases, measured by Dyno.
    Run,
    /// Figures that another program measured; `imported` says where they come from.
    Import,
    /// Limits of a component, measured without a database: no plan, target or window; `calibration` has the figures.
    Component,
    /// Activity of a database without load from Dyno, as Dyno observed it.
    Watch,
}

dyno_plan::names! {
    /// The name in records: `watch`.
    RecordKind { Run = "run", Import = "import", Component = "component", Watch = "watch" }
}
