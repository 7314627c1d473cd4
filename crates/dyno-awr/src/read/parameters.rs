//! Initialisation parameters.

use super::context::Context;
use crate::report::Parameter;
use crate::table::{Form, Table, squash};

/// Characters of a value that AWR's text reports print.
pub(crate) const VALUE_WIDTH: usize = 33;

/// Reads one table. In text a long value goes on in lines without a name; in lists of values each line is one.
pub(crate) fn read(context: &mut Context, table: &Table<'_>) {
    let Some(name) = table.find(|caption| caption.starts_with("parametername")) else { return };
    let Some(begin) = table.find(|caption| caption.starts_with("begin") || caption.starts_with("value"))
    else {
        return;
    };
    let end = table.find(|caption| caption.starts_with("end"));
    let is_list = squash(&table.title).contains("multivalued");
    let is_html = context.report.form == Form::Html;
    let is_whole = |value: &str| is_html || value.chars().count() < VALUE_WIDTH;
    let parameters = &mut context.report.parameters;
    let listed = &mut context.listed_parameters;
    let mut last = String::new();
    for row in &table.rows {
        let (cell, value) = (row.cell(name).trim(), row.cell(begin).trim());
        let end_value = end.map(|column| row.cell(column).trim()).filter(|value| !value.is_empty());
        if !cell.is_empty() {
            last = cell.to_owned();
        }
        let known = parameters.iter().position(|parameter| parameter.name == last);
        match known {
            // The list of values sorts them; the other table has them in their order, unless it cut them.
            Some(at) if is_list && is_whole(&parameters[at].value) && !listed.contains(&last) => {}
            // Text cuts them there. HTML repeats the name on each line of the list.
            Some(at) if is_list && listed.insert(last.clone()) => parameters[at].value = value.to_owned(),
            Some(at) if is_list => parameters[at].value.extend([", ", value]),
            Some(at) if cell.is_empty() => parameters[at].value.push_str(value),
            Some(_) => {}
            None if last.is_empty() => {}
            None => {
                if is_list {
                    listed.insert(last.clone());
                }
                parameters.push(Parameter {
                    name: last.clone(),
                    value: value.to_owned(),
                    end_value: end_value.map(str::to_owned),
                });
            }
        }
    }
}
