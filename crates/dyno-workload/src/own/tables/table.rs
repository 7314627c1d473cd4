//! A described table.

use dyno_engine::{Column, TableWords};

use crate::own::draws::Draws;
use crate::own::fault::{Fault, Text};

/// A table that a workload describes.
#[derive(Debug, Clone)]
pub struct DescribedTable {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) columns: Vec<Column>,
    /// Of a thousand million values of each column so many are NULL.
    pub(super) nulls: Vec<u32>,
    /// Columns of the primary key, and of each further index.
    pub(super) key: Vec<usize>,
    pub(super) indexes: Vec<Vec<usize>>,
    pub(super) draws: Draws,
    pub(super) seed: u64,
    /// Where it is written.
    pub(super) here: Text,
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

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.rows
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

    /// The statement that makes it.
    pub fn create(&self, words: &TableWords) -> String {
        words.create_table(&self.name, &self.columns, &self.names(&self.key))
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
