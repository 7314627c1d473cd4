//! Executes statements on test tables.

use std::sync::Arc;

use super::answers::{int, int_of, no_table, number, rows, text, text_of};
use super::database::ModelDatabase;
use super::operations::OperationResult;
use super::recognition::{Deed, TableStatement};
use super::rows::COLUMNS;
use super::state::CommitWay;
use crate::{ScriptedAnswer, ScriptedValue};

impl ModelDatabase {
    /// The columns of a statement that is only parsed, or the error that its table does not exist.
    pub(super) fn describe_statement(&self, statement: &TableStatement) -> ScriptedAnswer {
        if self.state.lock().catalog.rows(&statement.table).is_none() {
            return no_table(&statement.table);
        }
        match statement.deed {
            Deed::Lookup => rows(&["C2"], Vec::new()),
            Deed::Range | Deed::Group | Deed::Scan | Deed::Found | Deed::Fresh | Deed::Keys => {
                rows(&["number"], Vec::new())
            }
            _ => ScriptedAnswer::Done,
        }
    }

    /// Executes a statement, once or with an array of values.
    pub(super) fn run_statement(
        &self,
        session: u64,
        statement: &TableStatement,
        executions: &[Vec<ScriptedValue>],
    ) -> ScriptedAnswer {
        self.try_statement(session, statement, executions).unwrap_or_else(|refusal| refusal)
    }

    fn try_statement(
        &self,
        session: u64,
        statement: &TableStatement,
        executions: &[Vec<ScriptedValue>],
    ) -> OperationResult<ScriptedAnswer> {
        let TableStatement { table, deed, commits } = statement;
        let binds = executions.first().map_or(&[][..], Vec::as_slice);
        let bind = |place: usize| int_of(binds.get(place));
        self.refuse_appended(session, table)?;
        let is_null = binds.first() == Some(&ScriptedValue::Null);
        Ok(match deed {
            Deed::Range | Deed::Found => number(self.read_range(session, table, bind(0), bind(1))?),
            Deed::Lookup => {
                let mut values = Vec::new();
                if !is_null {
                    let keys = bind(0)..=bind(0);
                    self.visit_range(session, table, keys, |_, row| {
                        values.push(vec![text(&*row.columns[0])]);
                    })?;
                }
                rows(&["C2"], values)
            }
            Deed::Group => number(self.read_group(session, table, bind(0))?),
            Deed::Scan => number(self.scan_table(session, table)?),
            Deed::Fresh => {
                let [stamp, run, own] = [0, 1, 2].map(|place| text_of(binds.get(place)));
                let mut fresh = 0u64;
                self.visit_range(session, table, bind(3)..=bind(4), |_, row| {
                    let value = &*row.columns[0];
                    let is_later = value.starts_with(run) && !value.starts_with(own);
                    fresh += u64::from(value.starts_with(stamp) || is_later);
                })?;
                number(fresh)
            }
            Deed::Keys => {
                let mut keys = Vec::new();
                self.visit_range(session, table, bind(0)..=bind(1), |key, _| keys.push(vec![int(key)]))?;
                rows(&["custid"], keys)
            }
            Deed::Update(columns) => {
                let texts = binds.iter().map(|value| text_of(Some(value)).into());
                let values: Vec<(usize, Arc<str>)> = columns.iter().copied().zip(texts).collect();
                let (first, last) = (bind(columns.len()), bind(columns.len() + 1));
                let changed = self.update_range(session, table, first..=last, &values)?;
                self.changed(session, *commits, binds.len(), changed)
            }
            Deed::Insert => {
                for values in executions {
                    let columns =
                        values.iter().skip(1).take(COLUMNS).map(|value| text_of(Some(value)).into());
                    self.insert_row(session, table, int_of(values.first()), columns.collect())?;
                }
                self.changed(session, *commits, binds.len(), executions.len() as u64)
            }
            Deed::Copy(copy) => ScriptedAnswer::Changed(self.copy_rows(session, table, copy)?),
            Deed::Delete => {
                let deleted = self.delete_rows(session, table, bind(0)..=bind(0), 1, |_| true)?;
                self.changed(session, *commits, binds.len(), deleted)
            }
            Deed::SweepUp => {
                let (above, most) = (bind(0).saturating_add(1)..=i64::MAX, bind(1) as usize);
                let is_left = |row: &super::rows::StoredRow| row.columns[0].starts_with('u');
                ScriptedAnswer::Changed(self.delete_rows(session, table, above, most, is_left)?)
            }
            Deed::Slice(slice) => ScriptedAnswer::Returned(
                self.run_slice(session, table, slice, binds)?.into_iter().map(int).collect(),
            ),
        })
    }

    /// The answer to a statement that changed rows. A block executes its statement, commits, and returns the
    /// number in its last bind.
    fn changed(&self, session: u64, commits: bool, bind_count: usize, count: u64) -> ScriptedAnswer {
        if !commits {
            return ScriptedAnswer::Changed(count);
        }
        self.count_inner_executions(session, 1);
        self.commit(session, CommitWay::AtCallEnd);
        ScriptedAnswer::ReturnedAt(vec![(bind_count.saturating_sub(1), int(count))])
    }
}
