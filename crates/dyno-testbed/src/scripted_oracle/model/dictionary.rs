//! Creates, comments and drops tables, stores a load's notes, and answers queries on the dictionary.

use super::answers::{int, name_after, no_table, rows, text, text_of};
use super::catalog::{BLOCK_BYTES, Contents, StoredTable};
use super::clock::{dictionary_moment, iso_moment};
use super::database::ModelDatabase;
use super::state::{CommitWay, ModelState, TransactionEnding};
use crate::{ScriptedAnswer, ScriptedValue};

/// Tables of notes, with the columns that a client reads, and the position of each in an insert.
const NOTES: [(&str, &[&str]); 4] = [
    ("DYNO_OBJECTS", &["KIND", "NAME", "MARK"]),
    ("DYNO_META", &["NAME", "VALUE"]),
    ("DYNO_CHUNKS", &["KIND", "schema_no", "first_position", "row_count"]),
    ("DYNO_TABLES", &["KIND", "schema_no", "NAME", "row_count", "blocks", "bytes"]),
];

impl ModelDatabase {
    /// Answers statements that create, comment or drop, and those that write or read notes; absent for any
    /// other.
    pub(super) fn define(
        &self,
        session: u64,
        words: &str,
        binds: &[ScriptedValue],
    ) -> Option<ScriptedAnswer> {
        let begins = |start: &str| words.starts_with(start);
        let mut state = self.state.lock();
        if ["CREATE ", "DROP ", "COMMENT "].into_iter().any(begins) {
            state.end_transaction(session, TransactionEnding::Commit(CommitWay::Wait));
            let answer = define_table(&mut state, words);
            drop(state);
            self.released.notify_all();
            return answer;
        }
        if begins("BEGIN DBMS_STATS.GATHER_TABLE_STATS(") {
            let name = text_of(binds.first());
            if name.is_empty() {
                // The name is in the text: it is a table of the user's own.
                return None;
            }
            return Some(if state.catalog.rows(name).is_some() {
                ScriptedAnswer::Done
            } else {
                no_table(name)
            });
        }
        let (name, columns) = NOTES.into_iter().find(|(name, _)| {
            let name = name.to_ascii_lowercase();
            ["INSERT INTO ", "DELETE FROM "].iter().any(|verb| begins(&format!("{verb}{name}")))
                || (begins("SELECT ") && words.contains(&format!(" FROM {name}")))
        })?;
        let is_new = begins("INSERT ");
        let is_deleted = begins("DELETE ");
        if is_new || is_deleted {
            state.session(session).has_other_changes = true;
        }
        let Some(notes) = state.catalog.notes_mut(name) else { return Some(no_table(name)) };
        Some(if is_new {
            let mut values = binds.to_vec();
            if words.contains("SYSTIMESTAMP") {
                values.push(text(iso_moment()));
            }
            notes.insert(session, values);
            ScriptedAnswer::Changed(1)
        } else if is_deleted {
            ScriptedAnswer::Changed(notes.delete(session, binds))
        } else {
            let mut note_rows: Vec<_> = notes.rows(session).cloned().collect();
            if words.ends_with("DESC") {
                note_rows.reverse();
            }
            rows(columns, note_rows)
        })
    }

    /// Answers a query on the dictionary; absent for any other statement.
    pub(super) fn look_up(
        &self,
        session: u64,
        words: &str,
        binds: &[ScriptedValue],
    ) -> Option<ScriptedAnswer> {
        if let Some(answer) = self.look_up_user_object(session, words, text_of(binds.first())) {
            return Some(answer);
        }
        let says = |part: &str| words.contains(part);
        let state = self.state.lock();
        let tables = || state.catalog.tables.iter();
        let wanted = text_of(binds.first()).to_ascii_uppercase();
        let table = || state.catalog.tables.get(&wanted);
        let with_bytes = |(name, table): (&String, &StoredTable)| {
            let mark = if table.mark.is_empty() { ScriptedValue::Null } else { text(&*table.mark) };
            vec![text(name), mark, int(table.bytes())]
        };
        Some(if says("FROM user_tables t LEFT JOIN user_tab_comments c") {
            rows(&["TABLE_NAME", "COMMENTS", "bytes"], tables().map(with_bytes).collect())
        } else if says("t.pct_free, TRIM(t.degree) AS degree") {
            let sizes = table().into_iter().map(|table| {
                let (count, blocks) = match &table.contents {
                    Contents::Rows(rows) => (rows.all(0).count() as u64, rows.blocks),
                    Contents::Notes(notes) => (notes.rows(0).count() as u64, 1),
                };
                vec![int(count), int(blocks), int(99), text("1"), int(table.bytes())]
            });
            rows(&["num_rows", "blocks", "pct_free", "DEGREE", "bytes"], sizes.collect())
        } else if says("FROM user_tables t WHERE t.table_name = UPPER(:object_name)") {
            rows(&["bytes"], table().into_iter().map(|table| vec![int(table.bytes())]).collect())
        } else if says("AS bytes FROM user_tables t") {
            let row = |(name, table): (&String, &StoredTable)| vec![text(name), int(table.bytes())];
            rows(&["TABLE_NAME", "bytes"], tables().map(row).collect())
        } else if says("FROM user_indexes i JOIN user_ind_columns c") {
            let indexes = table().into_iter().flat_map(|table| &table.indexes);
            let row = |index: &super::catalog::StoredIndex| {
                vec![text(&*index.name), text(&*index.column), text("VALID")]
            };
            rows(&["INDEX_NAME", "COLUMN_NAME", "STATUS"], indexes.map(row).collect())
        } else if says("FROM user_indexes WHERE index_name = :index_name")
            || says("FROM user_indexes i WHERE i.index_name = UPPER(")
        {
            let mut indexes = tables().flat_map(|(_, table)| &table.indexes);
            let is_there = indexes.any(|index| index.name == wanted);
            rows(&["STATUS"], is_there.then(|| vec![text("VALID")]).into_iter().collect())
        } else if says("FROM user_constraints ") || says("FROM user_triggers ") {
            rows(&["NAME"], Vec::new())
        } else if words.starts_with("SELECT o.object_type, o.object_name, o.data_object_id") {
            rows(&["OBJECT_TYPE", "OBJECT_NAME", "data_object_id", "ALTERED"], objects(&state))
        } else if says("FROM user_ts_quotas ") {
            let used: u64 = tables().map(|(_, table)| table.bytes()).sum();
            rows(&["bytes", "max_bytes"], vec![vec![int(used), int(-1)]])
        } else if says("FROM user_errors ") {
            rows(&["LINE", "POSITION", "TEXT"], Vec::new())
        } else {
            return None;
        })
    }
}

impl ModelDatabase {
    /// Answers a query for a table or index of the user's own; absent if it is none.
    fn look_up_user_object(&self, session: u64, words: &str, name: &str) -> Option<ScriptedAnswer> {
        let tables = self.user_tables.as_ref()?;
        if words.contains("FROM user_tables t WHERE t.table_name = UPPER(:object_name)") {
            let bytes = tables.table_bytes(session, name)?;
            return Some(rows(&["bytes"], vec![vec![int(bytes)]]));
        }
        let is_found = words.contains("FROM user_indexes i WHERE i.index_name = UPPER(")
            && tables.has_index(session, name);
        is_found.then(|| rows(&["bytes"], vec![vec![ScriptedValue::Null]]))
    }
}

/// Whether it is a table of Dyno's block data or a note about it.
fn is_test_table(name: &str) -> bool {
    let is_note = NOTES.iter().any(|(note, _)| *note == name);
    is_note || ["DYNO_ROWS_", "DYNO_SCAN_"].iter().any(|kind| name.starts_with(kind))
}

fn define_table(state: &mut ModelState, words: &str) -> Option<ScriptedAnswer> {
    let moment = dictionary_moment();
    let answer_if =
        |is_done: bool, refusal: ScriptedAnswer| Some(if is_done { ScriptedAnswer::Done } else { refusal });
    if words.starts_with("CREATE TABLE ") {
        let name = name_after(words, "CREATE TABLE ").filter(|name| is_test_table(name))?;
        let refusal = ScriptedAnswer::Refused(955, "ORA-00955: name is already used by an existing object\n");
        return answer_if(state.catalog.create_table(&name, words, &moment), refusal);
    }
    if words.starts_with("CREATE INDEX dyno_") {
        let (name, table) = (name_after(words, "CREATE INDEX ")?, name_after(words, " ON ")?);
        let column = name_after(words, "(")?;
        return answer_if(state.catalog.create_index(name, &table, column, &moment), no_table(&table));
    }
    if words.starts_with("DROP TABLE ") {
        let name = name_after(words, "DROP TABLE ").filter(|name| is_test_table(name))?;
        return answer_if(state.catalog.tables.remove(&name).is_some(), no_table(&name));
    }
    if words.starts_with("COMMENT ON TABLE dyno_") {
        let name = name_after(words, "COMMENT ON TABLE ")?;
        let (_, mark) = words.trim_end_matches('\'').split_once(" IS '")?;
        let Some(table) = state.catalog.tables.get_mut(&name) else { return Some(no_table(&name)) };
        mark.clone_into(&mut table.mark);
        return Some(ScriptedAnswer::Done);
    }
    None
}

/// The test tables and their indexes: type, name, segment, time of the last change.
fn objects(state: &ModelState) -> Vec<Vec<ScriptedValue>> {
    let mut objects = Vec::new();
    for (name, table) in &state.catalog.tables {
        if !matches!(table.contents, Contents::Rows(_)) {
            continue;
        }
        objects.push(vec![text("TABLE"), text(name), int(table.object), text(&*table.altered)]);
        for index in &table.indexes {
            objects.push(vec![text("INDEX"), text(&*index.name), int(index.object), text(&*index.altered)]);
        }
    }
    objects
}

/// Free bytes in the model's only tablespace.
pub(super) const FREE_BYTES: u64 = (10 << 30) / BLOCK_BYTES * BLOCK_BYTES;
