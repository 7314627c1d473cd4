//! How and by whom a load is done.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::meta::Found;
use super::tables::Table;
use dyno_engine::load::{Cancel, Progress};

/// How and by whom a load is done.
pub(super) struct Loading<'a> {
    pub(super) config: &'a ConnectConfig,
    pub(super) spec: &'a DataSpec,
    pub(super) tables: &'a [Table],
    pub(super) parallel: u32,
    pub(super) progress: &'a dyn Progress,
    pub(super) cancel: &'a Cancel,
}

impl Loading<'_> {
    /// The chunks that are there for good, by the table's place in the list and first position.
    pub(super) fn done(&self, found: &Found) -> HashSet<(usize, u64)> {
        let chunk = |(kind, schema, first): &(String, u32, u64)| {
            let is_it = |table: &Table| table.kind.name() == kind && table.schema == *schema;
            Some((self.tables.iter().position(is_it)?, *first))
        };
        found.chunks.iter().filter_map(chunk).collect()
    }
}
