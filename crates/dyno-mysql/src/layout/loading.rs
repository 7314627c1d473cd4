//! How and by whom a load is done.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::wire::Connection;
use super::meta::Found;
use super::session::Loaders;
use super::tables::{Shape, Table};
use dyno_engine::error::TargetError;
use dyno_engine::load::{Cancel, LoadOptions, Progress};
use dyno_engine::pool;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `LOAD DATA LOCAL INFILE`.
    File,
    /// `INSERT … VALUES` of several rows.
    Insert,
}

impl Way {
    /// The faster way that the server allows: with `local_infile` on, files.
    pub(super) fn choose(connection: &mut Connection) -> Result<Self, TargetError> {
        let rows = connection.simple("SELECT @@local_infile")?;
        let files = rows.first().and_then(|row| row.get(0)) == Some("1");
        Ok(if files { Self::File } else { Self::Insert })
    }
}

/// How and by whom a load is done.
pub(super) struct Loading<'a> {
    pub(super) config: &'a ConnectConfig,
    pub(super) spec: &'a DataSpec,
    pub(super) shape: Shape,
    pub(super) tables: &'a [Table],
    pub(super) fill: Way,
    pub(super) options: &'a LoadOptions,
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

    /// Does `jobs` jobs on the load's connections.
    pub(super) fn each(
        &self,
        jobs: usize,
        work: &(dyn Fn(&mut Connection, usize) -> Result<(), TargetError> + Sync),
    ) -> Result<(), TargetError> {
        pool::run(&Loaders(self.config), self.options.parallel, jobs, self.cancel, work)
    }
}
