//! A table that a workload describes.

use std::sync::{Arc, OnceLock};

use dyno_engine::{ColumnDefinition, NewTable, TableWords};

use crate::custom::draws::Draws;
use crate::custom::fault::{SourceText, WorkloadError};

/// A table that a workload describes.
#[derive(Debug, Clone)]
pub struct DescribedTable {
    pub(super) name: String,
    /// Number of rows, for a table without a parent.
    pub(super) rows: u64,
    pub(super) parent: Option<Arc<Parent>>,
    pub(super) columns: Vec<ColumnDefinition>,
    /// How many of 10⁹ values of each column are NULL.
    pub(super) nulls: Vec<u32>,
    /// Columns of the primary key, and of each further index.
    pub(super) key: Vec<usize>,
    pub(super) indexes: Vec<Vec<usize>>,
    /// Whether keys and indexes are created before the rows instead of after them.
    pub(super) indexed_first: bool,
    /// Whether the database logs writes to the table.
    pub(super) logged: bool,
    /// Constraints in the syntax of SQL.
    pub(super) constraints: Vec<String>,
    /// Whether a transaction fills it, so that the load of data skips it.
    pub(super) by_runs: bool,
    /// Whether it is recreated before each run.
    pub(super) emptied: bool,
    /// The table name that its generators use: its own, or that of the table in `like`.
    pub(super) made_as: String,
    pub(super) draws: Draws,
    pub(super) seed: u64,
    /// Its place in the file.
    pub(super) here: SourceText,
}

/// A parent table, and its column with the number of child rows per row.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) table: DescribedTable,
    pub(super) column: usize,
    /// Number of child rows before every n-th parent row, and after the last; computed on first use.
    pub(super) before: OnceLock<Vec<u64>>,
}

impl Parent {
    pub(super) fn new(table: DescribedTable, column: usize) -> Self {
        Self { table, column, before: OnceLock::new() }
    }
}

/// An index of a described table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedIndex {
    pub name: String,
    /// The statement that creates it.
    pub sql: String,
}

impl DescribedTable {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its columns, in the order of the description.
    pub fn columns(&self) -> &[ColumnDefinition] {
        &self.columns
    }

    /// An error about the table, such as a message of the server.
    pub fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) -> WorkloadError {
        self.here.fault(0, problem, hint)
    }

    fn names(&self, columns: &[usize]) -> Vec<&str> {
        columns.iter().map(|&column| self.columns[column].name.as_str()).collect()
    }

    /// Whether a transaction of the workload fills it, so that the load of data skips it.
    pub fn is_filled_by_runs(&self) -> bool {
        self.by_runs
    }

    /// Whether it is recreated before each run, so that it contains only rows of that run.
    pub fn is_emptied(&self) -> bool {
        self.emptied
    }

    /// Whether keys and indexes are created before the rows.
    pub fn is_indexed_first(&self) -> bool {
        self.indexed_first
    }

    /// Number of its indexes, including the primary key.
    pub fn index_count(&self) -> u32 {
        self.indexes.len() as u32 + u32::from(!self.key.is_empty())
    }

    /// Whether it has a primary key.
    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// Number of its constraints besides keys.
    pub fn constraint_count(&self) -> u32 {
        self.constraints.len() as u32
    }

    /// Whether the database logs writes to the table.
    pub fn is_logged(&self) -> bool {
        self.logged
    }

    /// The statement that creates it, with the additional column `required_key` if it has no primary key.
    ///
    /// # Errors
    /// The engine does not support such a table.
    pub fn create(&self, words: &TableWords, required_key: Option<&str>) -> Result<String, WorkloadError> {
        let Self { name, columns, constraints, logged, .. } = self;
        let key = &self.names(&self.key);
        let table = NewTable { name, columns, key, required_key, constraints, logged: *logged };
        words.create_table(&table).ok_or_else(|| {
            let hint = "leave logging = false out, or load a table that is logged";
            self.fault("this engine writes a log for every table", hint)
        })
    }

    /// What is created after its rows: the primary key, on engines that create it then, and the indexes.
    pub fn indexes(&self, words: &TableWords) -> Vec<DescribedIndex> {
        let Self { name, key, .. } = self;
        let mut all = Vec::new();
        if !words.key_first && !key.is_empty() {
            let index = format!("{name}_pkey");
            let columns = self.names(key).join(", ");
            let sql = format!("ALTER TABLE {name} ADD CONSTRAINT {index} PRIMARY KEY ({columns})");
            all.push(DescribedIndex { name: index, sql });
        }
        for (number, columns) in (1..).zip(&self.indexes) {
            let index = format!("{name}_i{number}");
            let sql = format!("CREATE INDEX {index} ON {name} ({})", self.names(columns).join(", "));
            all.push(DescribedIndex { name: index, sql });
        }
        all
    }

    /// Integer columns of the primary key.
    pub fn whole_keys(&self) -> Vec<usize> {
        use dyno_engine::ColumnType::{Bigint, Integer};
        let is_whole = |column: &usize| matches!(self.columns[*column].column_type, Integer | Bigint);
        self.key.iter().copied().filter(is_whole).collect()
    }
}
