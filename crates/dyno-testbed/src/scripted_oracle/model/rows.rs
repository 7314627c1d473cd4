//! A block layout table with one row per key and block, in its committed state and as its writer sees it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Text columns of a row: `c2` to `c20`.
pub(super) const COLUMNS: usize = 19;

/// A row's version and text columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredRow {
    pub(super) version: i64,
    pub(super) columns: Vec<Arc<str>>,
}

impl StoredRow {
    pub(super) fn bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.len() as u64).sum()
    }
}

#[derive(Debug)]
struct PendingRow {
    session: u64,
    /// Absent if the row was deleted.
    row: Option<Arc<StoredRow>>,
}

#[derive(Debug)]
struct RowSlot {
    /// The block that holds only this row.
    block: u64,
    /// Absent if the insert is not committed.
    committed: Option<Arc<StoredRow>>,
    pending: Option<PendingRow>,
}

impl RowSlot {
    /// The row version that `session` sees.
    fn visible(&self, session: u64) -> Option<&Arc<StoredRow>> {
        match &self.pending {
            Some(pending) if pending.session == session => pending.row.as_ref(),
            _ => self.committed.as_ref(),
        }
    }
}

/// The secondary key of a loaded row is `(custid + groups - 1) mod groups + 1`; of any other row, its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecondaryKey {
    pub(super) loaded_rows: i64,
    pub(super) groups: i64,
}

/// The rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowTable {
    slots: BTreeMap<i64, RowSlot>,
    /// Number of blocks that have ever held a row.
    pub(super) blocks: u64,
    emptied_blocks: Vec<u64>,
    pub(super) secondary: Option<SecondaryKey>,
}

/// A key, its block and its row.
pub(super) type PlacedRow<'a> = (i64, u64, &'a Arc<StoredRow>);

impl RowTable {
    /// Creates an empty table, with or without a secondary key.
    pub(super) fn new(secondary: Option<SecondaryKey>) -> Self {
        Self { secondary, ..Self::default() }
    }

    /// Rows of a range that `session` sees, in key order.
    pub(super) fn range(
        &self,
        session: u64,
        keys: RangeInclusive<i64>,
    ) -> impl Iterator<Item = PlacedRow<'_>> {
        let slots = (!keys.is_empty()).then(|| self.slots.range(keys));
        slots
            .into_iter()
            .flatten()
            .filter_map(move |(&key, slot)| Some((key, slot.block, slot.visible(session)?)))
    }

    pub(super) fn all(&self, session: u64) -> impl Iterator<Item = PlacedRow<'_>> {
        self.range(session, i64::MIN..=i64::MAX)
    }

    pub(super) fn count(&self, session: u64, first: i64, last: i64) -> u64 {
        self.range(session, first..=last).count() as u64
    }

    /// Number of rows whose secondary key is `value`.
    pub(super) fn count_secondary(&self, session: u64, value: i64) -> u64 {
        let Some(SecondaryKey { loaded_rows, groups }) = self.secondary else { return 0 };
        let count_key = |key: i64| self.count(session, key, key);
        let of_group = match (1..=groups).contains(&value) {
            true => (value..=loaded_rows).step_by(groups as usize).map(count_key).sum(),
            false => 0,
        };
        of_group + if value > loaded_rows { count_key(value) } else { 0 }
    }

    /// Another session with an open transaction that changed a row of the range.
    pub(super) fn blocker(&self, session: u64, keys: RangeInclusive<i64>) -> Option<u64> {
        let slots = (!keys.is_empty()).then(|| self.slots.range(keys));
        let pending = slots.into_iter().flatten().filter_map(|(_, slot)| slot.pending.as_ref());
        pending.map(|pending| pending.session).find(|&owner| owner != session)
    }

    /// Inserts a row into an emptied block, or into a new one. Returns whether the key was free.
    pub(super) fn insert(&mut self, session: u64, key: i64, row: StoredRow) -> bool {
        let pending = Some(PendingRow { session, row: Some(Arc::new(row)) });
        if let Some(slot) = self.slots.get_mut(&key) {
            let is_free = slot.visible(session).is_none();
            if is_free {
                slot.pending = pending;
            }
            return is_free;
        }
        let block = self.emptied_blocks.pop().unwrap_or_else(|| {
            self.blocks += 1;
            self.blocks
        });
        self.slots.insert(key, RowSlot { block, committed: None, pending });
        true
    }

    /// Replaces or deletes the row of a key that `session` sees.
    pub(super) fn replace(&mut self, session: u64, key: i64, row: Option<StoredRow>) {
        if let Some(slot) = self.slots.get_mut(&key) {
            slot.pending = Some(PendingRow { session, row: row.map(Arc::new) });
        }
    }

    /// Commits or rolls back the change of `session` to a key.
    pub(super) fn end(&mut self, session: u64, key: i64, commits: bool) {
        let Some(slot) = self.slots.get_mut(&key) else { return };
        let Some(pending) = slot.pending.take_if(|pending| pending.session == session) else { return };
        if commits {
            slot.committed = pending.row;
        }
        if slot.committed.is_none() {
            self.emptied_blocks.push(slot.block);
            self.slots.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(version: i64) -> StoredRow {
        StoredRow { version, columns: vec!["x".into(); COLUMNS] }
    }

    fn loaded(keys: i64) -> RowTable {
        let mut table = RowTable::default();
        for key in 1..=keys {
            assert!(table.insert(1, key, row(0)));
            table.end(1, key, true);
        }
        table
    }

    #[test]
    fn uncommitted_rows_are_visible_only_to_their_writer() {
        let mut table = loaded(10);
        table.replace(1, 3, Some(row(1)));
        table.replace(1, 4, None);
        assert_eq!((table.count(1, 1, 10), table.count(2, 1, 10)), (9, 10));
        let version = |table: &RowTable, session| table.range(session, 3..=3).next().unwrap().2.version;
        assert_eq!((version(&table, 1), version(&table, 2)), (1, 0));
        assert_eq!(
            (table.blocker(2, 1..=3), table.blocker(2, 1..=2), table.blocker(1, 1..=4)),
            (Some(1), None, None)
        );
        table.end(1, 3, false);
        table.end(1, 4, true);
        assert_eq!((version(&table, 2), table.count(2, 1, 10)), (0, 9));
    }

    #[test]
    fn emptied_blocks_are_reused() {
        let mut table = loaded(10);
        table.replace(1, 4, None);
        table.end(1, 4, true);
        assert!(table.insert(1, 11, row(0)));
        assert!(!table.insert(1, 11, row(0)));
        assert_eq!(table.blocks, 10);
        table.end(1, 11, false);
        assert_eq!(table.count(2, 1, 11), 9);
    }

    #[test]
    fn secondary_key_counts_follow_groups() {
        let mut table = loaded(50);
        table.secondary = Some(SecondaryKey { loaded_rows: 49, groups: 20 });
        assert_eq!([1, 9, 10, 20, 21, 50].map(|value| table.count_secondary(1, value)), [3, 3, 2, 2, 0, 1]);
    }
}
