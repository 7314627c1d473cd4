//! What a server stores for a statement that a client has parsed.

use std::collections::VecDeque;

use super::{ScriptedType, ScriptedValue};

pub(super) struct ScriptedCursor {
    pub(super) sql: String,
    /// Type and length of each bind.
    pub(super) binds: Vec<(u8, u64)>,
    pub(super) directions: Vec<u8>,
    pub(super) columns: Vec<(&'static str, ScriptedType)>,
    /// Whether the client has said that it wants LOBs as long texts and bytes.
    pub(super) is_defined: bool,
    /// Rows that were not fetched yet.
    pub(super) rows: VecDeque<Vec<ScriptedValue>>,
    /// The row sent last in the current execution.
    pub(super) last_row: Option<Vec<ScriptedValue>>,
}

impl ScriptedCursor {
    /// Whether its rows must wait until the client has said how it wants LOBs.
    pub(super) fn awaits_definition(&self) -> bool {
        !self.is_defined && self.columns.iter().any(|(_, kind)| kind.is_lob())
    }
}
