//! Reads initialization parameters.

use dyno_analyze::intervals::{NAME_WIDTH, VALUE_WIDTH};

use super::context::Context;
use super::key::AwrParameterKey;
use crate::report::AwrParameter;
use crate::table::{AwrFormat, AwrTable, AwrTableRow, squash};

/// The columns that identify the scope of a value.
#[derive(Debug, Clone, Copy)]
struct Columns {
    name: usize,
    pdb: Option<usize>,
    instance: Option<usize>,
}

impl Columns {
    /// The scope of a line's value, and whether the line states it. Text omits a name that the line
    /// before has; a line that continues a value has no scope.
    fn key(self, row: &AwrTableRow<'_>, last: &AwrParameterKey) -> (AwrParameterKey, bool) {
        let cell = |column: Option<usize>| column.map_or("", |at| row.cell(at).trim());
        let (name, pdb, instance) = (cell(Some(self.name)), cell(self.pdb), cell(self.instance));
        if name.is_empty() && pdb.is_empty() && instance.is_empty() {
            return (last.clone(), false);
        }
        let name = if name.is_empty() { last.name.clone() } else { name.to_owned() };
        let pdb = Some(pdb).filter(|pdb| !pdb.is_empty()).map(str::to_owned);
        // A star means all instances.
        (AwrParameterKey { name, pdb, instance: instance.parse().ok() }, true)
    }
}

/// Reads one table. In text, a long value continues in lines without a name; in lists of values
/// each line is one.
pub(crate) fn read(context: &mut Context, table: &AwrTable<'_>) {
    let Some(name) = table.find(|caption| caption.starts_with("parametername")) else { return };
    let Some(begin) = table.find(|caption| caption.starts_with("begin") || caption.starts_with("value"))
    else {
        return;
    };
    let end = table.find(|caption| caption.starts_with("end"));
    let columns = Columns { name, pdb: table.column("pdbname"), instance: table.column("i#") };
    let is_list = squash(&table.title).contains("multivalued");
    let is_html = context.report.form == AwrFormat::Html;
    let is_whole = |value: &str| is_html || value.chars().count() < VALUE_WIDTH;
    let parameters = &mut context.report.parameters;
    let listed = &mut context.listed_parameters;
    let mut last = AwrParameterKey::default();
    // Parameters of this table: text may truncate two names to one, and then each has a line of its
    // own.
    let first_row = parameters.len();
    for row in &table.rows {
        let value = row.cell(begin).trim();
        let end_value = end.map(|column| row.cell(column).trim()).filter(|value| !value.is_empty());
        let (key, begins) = columns.key(row, &last);
        last = key;
        let existing_index = parameters.iter().rposition(|parameter| last.matches(parameter));
        match existing_index {
            // The list of values sorts them; the other table has them in their order, unless it
            // truncated them.
            Some(at) if is_list && is_whole(&parameters[at].value) && !listed.contains(&last) => {}
            // Text truncates them there. HTML repeats the name on each line of the list.
            Some(at) if is_list && listed.insert(last.clone()) => parameters[at].value = value.to_owned(),
            Some(at) if is_list => parameters[at].value.extend([", ", value]),
            Some(at) if !begins => parameters[at].value.push_str(value),
            Some(at) if at < first_row || is_html || !may_be_cut(&last.name) => {}
            Some(at) => {
                parameters[at].ordinal.get_or_insert(1);
                let same_name = parameters.iter().filter(|of| last.matches(of)).count();
                parameters.push(AwrParameter {
                    name: last.name.clone(),
                    value: value.to_owned(),
                    end_value: end_value.map(str::to_owned),
                    pdb: last.pdb.clone(),
                    instance: last.instance,
                    ordinal: u32::try_from(same_name + 1).ok(),
                });
            }
            None if last.name.is_empty() => {}
            None => {
                if is_list {
                    listed.insert(last.clone());
                }
                parameters.push(AwrParameter {
                    name: last.name.clone(),
                    value: value.to_owned(),
                    end_value: end_value.map(str::to_owned),
                    pdb: last.pdb.clone(),
                    instance: last.instance,
                    ordinal: None,
                });
            }
        }
    }
}

/// Whether a name of a text report may lack its end.
fn may_be_cut(name: &str) -> bool {
    name.chars().count() >= NAME_WIDTH
}
