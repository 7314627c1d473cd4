//! Draws of a draft of which nobody has said yet how they are drawn.

use super::fault::Fault;
use super::names::shown;
use super::table::{Item, Table};

/// The key that stands in a draft instead of a kind of draw, with what is known of the value.
pub(super) const TODO: &str = "todo";

/// Refuses a draft in which something is left to be said: with all places of it.
pub(super) fn refuse(draw: Option<&Table<'_>>) -> Result<(), Fault> {
    let items = draw.map(Table::items).unwrap_or_default();
    let undrawn = |item: &Item<'_>| {
        let todo = item.as_table()?.get(TODO)?;
        let known = todo.as_text().map(|text| shown(&text.letters)).filter(|words| !words.is_empty());
        let known = known.map(|words| format!(" ({words})")).unwrap_or_default();
        let hint = "write a kind of draw in place of `todo`, such as { uniform = [1, 1_000] }";
        Some(item.fault(format!("no generator defined{known}"), hint))
    };
    let mut faults = items.iter().filter_map(undrawn);
    match faults.next() {
        None => Ok(()),
        Some(first) => Err(Fault { others: faults.collect(), ..first }),
    }
}
