//! Initialisation parameters.

use super::context::Context;
use crate::report::Parameter;
use crate::table::{Table, squash};

/// Reads one table. In text a long value goes on in lines without a name; in lists of values each line is one.
pub(crate) fn read(context: &mut Context, table: &Table<'_>) {
    let Some(name) = table.find(|caption| caption.starts_with("parametername")) else { return };
    let Some(begin) = table.find(|caption| caption.starts_with("begin") || caption.starts_with("value"))
    else {
        return;
    };
    let end = table.find(|caption| caption.starts_with("end"));
    let is_list = squash(&table.title).contains("multivalued");
    let parameters = &mut context.report.parameters;
    let first_new = parameters.len();
    let mut last = String::new();
    for row in &table.rows {
        let (cell, value) = (row.cell(name).trim(), row.cell(begin).trim());
        let end_value = end.map(|column| row.cell(column).trim()).filter(|value| !value.is_empty());
        if !cell.is_empty() {
            last = cell.to_owned();
        }
        let known = parameters.iter().position(|parameter| parameter.name == last);
        match known {
            // The list of values is whole, the other tables cut them.
            Some(at) if is_list && at < first_new && !cell.is_empty() => {
                parameters[at].value = value.to_owned();
            }
            Some(at) if is_list => parameters[at].value.extend([", ", value]),
            Some(at) if cell.is_empty() => parameters[at].value.push_str(value),
            Some(_) => {}
            None if last.is_empty() => {}
            None => parameters.push(Parameter {
                name: last.clone(),
                value: value.to_owned(),
                end_value: end_value.map(str::to_owned),
            }),
        }
    }
}
