//! A described table.

use std::sync::{Arc, OnceLock};

use dyno_engine::{Column, NewTable, TableWords};

use crate::own::draws::Draws;
use crate::own::fault::{Fault, Text};

/// A table that a workload describes.
#[derive(Debug, Clone)]
pub struct DescribedTable {
    pub(super) name: String,
    /// How many rows it has, unless each belongs to one of another table.
    pub(super) rows: u64,
    pub(super) parent: Option<Arc<Parent>>,
    pub(super) columns: Vec<Column>,
    /// Of a thousand million values of each column so many are NULL.
    pub(super) nulls: Vec<u32>,
    /// Columns of the primary key, and of each further index.
    pub(super) key: Vec<usize>,
    pub(super) indexes: Vec<Vec<usize>>,
    /// Whether keys and indexes are made before the rows, and grow with them, instead of behind them.
    pub(super) indexed_first: bool,
    /// Whether what is written into it is logged.
    pub(super) logged: bool,
    /// Constraints, as they stand in SQL.
    pub(super) constraints: Vec<String>,
    /// Whether a transaction fills it, so that a load leaves it alone.
    pub(super) by_runs: bool,
    /// Whether it is made anew before each run.
    pub(super) emptied: bool,
    /// The name that its rows are made by: that of the table which it is like.
    pub(super) made_as: String,
    pub(super) draws: Draws,
    pub(super) seed: u64,
    /// Where it is written.
    pub(super) here: Text,
}

/// The table whose rows have some each, and the column that says how many.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) table: DescribedTable,
    pub(super) column: usize,
    /// How many rows stand before those of every so many rows of the table, and behind the last: counted when it is first asked for.
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
    /// Its name.
    pub name: String,
    /// The statement that makes it.
    pub sql: String,
}

impl DescribedTable {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its columns, in their order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What is wrong with it, such as the words of a server.
    pub fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) -> Fault {
        self.here.fault(0, problem, hint)
    }

    fn names(&self, columns: &[usize]) -> Vec<&str> {
        columns.iter().map(|&column| self.columns[column].name.as_str()).collect()
    }

    /// Whether a transaction of the workload fills it, so that a load leaves it alone.
    pub fn is_filled_by_runs(&self) -> bool {
        self.by_runs
    }

    /// Whether it is made anew before each run, so that what is in it is that run's.
    pub fn is_emptied(&self) -> bool {
        self.emptied
    }

    /// Whether keys and indexes are made before the rows.
    pub fn is_indexed_first(&self) -> bool {
        self.indexed_first
    }

    /// Its indexes, the primary key among them.
    pub fn index_count(&self) -> u32 {
        self.indexes.len() as u32 + u32::from(!self.key.is_empty())
    }

    /// Whether it has a primary key.
    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// Its constraints beside the keys.
    pub fn constraint_count(&self) -> u32 {
        self.constraints.len() as u32
    }

    /// Whether what is written into it is logged.
    pub fn is_logged(&self) -> bool {
        self.logged
    }

    /// The statement that makes it, with the column `required_key` where it has no primary key.
    ///
    /// # Errors
    /// The engine has no such table.
    pub fn create(&self, words: &TableWords, required_key: Option<&str>) -> Result<String, Fault> {
        let Self { name, columns, constraints, logged, .. } = self;
        let key = &self.names(&self.key);
        let table = NewTable { name, columns, key, required_key, constraints, logged: *logged };
        words.create_table(&table).ok_or_else(|| {
            let hint = "leave logging = false out, or load a table that is logged";
            self.fault("this engine has no table of which no log is written", hint)
        })
    }

    /// What is made behind its rows: the primary key, where the engine makes it so, and the indexes.
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

    /// Columns of the primary key that are integers.
    pub fn whole_keys(&self) -> Vec<usize> {
        use dyno_engine::ColumnType::{Bigint, Integer};
        let is_whole = |column: &usize| matches!(self.columns[*column].of, Integer | Bigint);
        self.key.iter().copied().filter(is_whole).collect()
    }
}
