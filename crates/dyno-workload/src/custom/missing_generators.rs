//! Finds the generators of a draft that the user must still define.

use super::fault::WorkloadError;
use super::names::shown;
use super::table::{TomlItem, TomlTable};

/// The key that a draft has instead of a kind of generator; its text describes the value.
pub const TODO: &str = "todo";

/// Refuses an incomplete draft, with the places of all generators to define.
pub(super) fn refuse(draw: Option<&TomlTable<'_>>) -> Result<(), WorkloadError> {
    let items = draw.map(TomlTable::items).unwrap_or_default();
    let undrawn = |item: &TomlItem<'_>| {
        let todo = item.as_table()?.get(TODO)?;
        let notes = todo.as_text().map(|text| shown(&text.letters)).filter(|words| !words.is_empty());
        let suffix = notes.map(|words| format!(" ({words})")).unwrap_or_default();
        let hint = "write a generator in place of `todo`, such as { uniform = [1, 1_000] }";
        Some(item.fault(format!("no generator defined{suffix}"), hint))
    };
    let mut faults = items.iter().filter_map(undrawn);
    match faults.next() {
        None => Ok(()),
        Some(first) => Err(WorkloadError { others: faults.collect(), ..first }),
    }
}
