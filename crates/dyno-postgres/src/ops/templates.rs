//! The operations on one schema, prepared.

use dyno_plan::Redo;

use super::statements::{self, Form, Statement};
use super::template::{Ending, Template};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::layout::updated_columns;
use dyno_engine::session::{Op, SessionSetup};

/// Messages of every operation on one schema.
#[derive(Debug)]
pub(super) struct Templates {
    select: Template,
    lookup: Template,
    scan: Template,
    update: Template,
    /// Of those that only some sessions have prepared.
    secondary: Template,
    insert: Template,
    delete: Template,
    work_unit: u64,
    /// The new columns of one update or insert, one after the other.
    fresh: Vec<u8>,
    updated: usize,
}

/// The statements that a session with `setup` prepares for `schema`, its own or not.
pub(super) fn statements_of(setup: &SessionSetup, schema: u32) -> Vec<Statement> {
    let mut all =
        vec![statements::select(schema), statements::lookup(schema), statements::update(schema, setup.redo)];
    if setup.spec.scan_rows > 0 {
        all.push(statements::scan(schema));
    }
    if setup.extra.secondary {
        all.push(statements::secondary(&setup.spec, schema));
    }
    if setup.extra.churn && schema == setup.schema {
        all.push(statements::insert(schema));
        all.push(statements::delete(schema));
    }
    if schema != setup.schema {
        all = all.into_iter().map(Statement::elsewhere).collect();
    }
    all
}

impl Templates {
    /// Messages for `schema`, as `form` brings them to the server.
    pub(super) fn new(setup: &SessionSetup, schema: u32, form: &Form) -> Self {
        let named = |statement: Statement| {
            if schema == setup.schema { statement } else { statement.elsewhere() }
        };
        let reads = |statement| named(statement).template(form, Ending::Sync);
        let writes = |statement| named(statement).template(form, Ending::FlushSync);
        let updated = updated_columns(setup.redo).count();
        let columns = if setup.extra.churn { updated_columns(Redo::Heavy).count() } else { updated };
        Self {
            select: reads(statements::select(schema)),
            lookup: reads(statements::lookup(schema)),
            scan: reads(statements::scan(schema)),
            secondary: reads(statements::secondary(&setup.spec, schema)),
            update: writes(statements::update(schema, setup.redo)),
            insert: writes(statements::insert(schema)),
            delete: writes(statements::delete(schema)),
            work_unit: u64::from(setup.work_unit),
            fresh: vec![0; columns * CLASSIC_COLUMN_BYTES],
            updated: updated * CLASSIC_COLUMN_BYTES,
        }
    }

    /// The message for `op`.
    #[inline]
    pub(super) fn fill(&mut self, op: Op, values: &mut UpdateValues) -> &Template {
        match op {
            Op::Select { first } => {
                self.select.set_int8(0, first);
                self.select.set_int8(1, first + self.work_unit - 1);
                &self.select
            }
            Op::Lookup { key } => {
                self.lookup.set_int8(0, key);
                &self.lookup
            }
            Op::Secondary { value } => {
                self.secondary.set_int8(0, value);
                &self.secondary
            }
            Op::Scan => &self.scan,
            Op::Update { first, number } => {
                self.update.set_int8(0, first);
                self.update.set_int8(1, first + self.work_unit - 1);
                let fresh = &mut self.fresh[..self.updated];
                values.fill_columns(number, fresh);
                set_columns(&mut self.update, 2, fresh);
                &self.update
            }
            Op::Insert { key, number } => {
                self.insert.set_int8(0, key);
                values.fill_columns(number, &mut self.fresh);
                set_columns(&mut self.insert, 1, &self.fresh);
                &self.insert
            }
            Op::Delete { key } => {
                self.delete.set_int8(0, key);
                &self.delete
            }
        }
    }
}

#[inline]
fn set_columns(template: &mut Template, first: usize, columns: &[u8]) {
    for (index, column) in columns.chunks_exact(CLASSIC_COLUMN_BYTES).enumerate() {
        template.set_text(first + index, column);
    }
}
