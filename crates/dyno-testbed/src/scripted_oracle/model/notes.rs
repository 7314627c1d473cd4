//! A small table read and written by whole rows: a load's notes.

use crate::ScriptedValue;

#[derive(Debug)]
struct NoteRow {
    values: Vec<ScriptedValue>,
    /// The session with the uncommitted insert of this row.
    inserted_by: Option<u64>,
    /// The session with the uncommitted delete of this row.
    deleted_by: Option<u64>,
}

/// The rows in insertion order.
#[derive(Debug, Default)]
pub(super) struct NoteTable(Vec<NoteRow>);

impl NoteTable {
    /// The rows that `session` sees.
    pub(super) fn rows(&self, session: u64) -> impl DoubleEndedIterator<Item = &Vec<ScriptedValue>> {
        let is_seen = move |row: &&NoteRow| {
            row.inserted_by.is_none_or(|owner| owner == session) && row.deleted_by != Some(session)
        };
        self.0.iter().filter(is_seen).map(|row| &row.values)
    }

    pub(super) fn insert(&mut self, session: u64, values: Vec<ScriptedValue>) {
        self.0.push(NoteRow { values, inserted_by: Some(session), deleted_by: None });
    }

    /// Deletes the rows that begin with these values. Returns how many.
    pub(super) fn delete(&mut self, session: u64, first_values: &[ScriptedValue]) -> u64 {
        let mut count = 0;
        for row in &mut self.0 {
            let is_seen = row.inserted_by.is_none_or(|owner| owner == session) && row.deleted_by.is_none();
            if is_seen && row.values.starts_with(first_values) {
                row.deleted_by = Some(session);
                count += 1;
            }
        }
        count
    }

    /// Commits or rolls back the changes of `session`.
    pub(super) fn end(&mut self, session: u64, commits: bool) {
        let owner = Some(session);
        self.0.retain(|row| if commits { row.deleted_by != owner } else { row.inserted_by != owner });
        for row in &mut self.0 {
            row.inserted_by.take_if(|inserter| *inserter == session);
            row.deleted_by.take_if(|deleter| *deleter == session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_rolled_back_with_their_transaction() {
        let mut notes = NoteTable::default();
        let note = |number| vec![ScriptedValue::Int(number), ScriptedValue::Null];
        notes.insert(1, note(7));
        assert_eq!((notes.rows(1).count(), notes.rows(2).count()), (1, 0));
        notes.end(1, false);
        assert_eq!(notes.rows(1).count(), 0);
        notes.insert(1, note(8));
        notes.end(1, true);
        assert_eq!(notes.delete(2, &[ScriptedValue::Int(7)]), 0);
        assert_eq!(notes.delete(2, &[ScriptedValue::Int(8)]), 1);
        assert_eq!((notes.rows(2).count(), notes.rows(1).count()), (0, 1));
        notes.end(2, true);
        assert_eq!(notes.rows(1).count(), 0);
    }
}
