//! Completes a load after its rows are written: creates keys and indexes, gathers statistics, verifies.

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind, pool};
use dyno_workload::custom::{CustomWorkload, DescribedTable};

use super::create::error_at_table;
use super::fill::{Fillers, connections};
use super::state_tables::query_rows;
use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, LoadEvent};

/// Creates keys and indexes, gathers statistics, and verifies the rows.
pub(super) fn index_and_verify(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
    parallel: u32,
) -> Result<(), TargetError> {
    let words = target.table_words();
    let connections = connections(target, parallel);
    let all = || {
        workload.loaded_tables().flat_map(|table| table.indexes(&words).into_iter().map(move |i| (table, i)))
    };
    let indexes: Vec<_> = all().collect();
    let names: Vec<&str> = indexes.iter().map(|(_, index)| index.name.as_str()).collect();
    let existing = target.find(ObjectKind::Index, &names)?;
    let missing: Vec<_> =
        indexes.iter().filter(|(_, index)| !existing.iter().any(|item| item.name == index.name)).collect();
    report_phase(ctx, "index", missing.iter().map(|(table, _)| table.rows()).sum());
    pool::run(&Fillers(target), connections, missing.len(), &ctx.cancel, &|filler, job| {
        let (table, index) = missing[job];
        if let Err(error) = filler.execute(&index.sql) {
            // The server may still be creating the index for a killed load.
            if target.find(ObjectKind::Index, &[&index.name])?.is_empty() {
                return Err(error_at_table(table, error));
            }
        }
        ctx.emit(CampaignEvent::Load(LoadEvent::Advance(table.rows(), 0)));
        Ok(())
    })?;
    let tables: Vec<&DescribedTable> = workload.loaded_tables().collect();
    let rows = tables.iter().map(|table| table.rows()).sum();
    report_phase(ctx, "analyze", rows);
    pool::run(&Fillers(target), connections, tables.len(), &ctx.cancel, &|filler, job| {
        filler
            .execute(&(words.analyze)(tables[job].name()))
            .map_err(|error| error_at_table(tables[job], error))?;
        ctx.emit(CampaignEvent::Load(LoadEvent::Advance(tables[job].rows(), 0)));
        Ok(())
    })?;
    report_phase(ctx, "verify", rows);
    for table in tables {
        if ctx.cancel.is_cancelled() {
            return Err(pool::cancelled());
        }
        verify(target, table)?;
        ctx.emit(CampaignEvent::Load(LoadEvent::Advance(table.rows(), 0)));
    }
    Ok(())
}

fn report_phase(ctx: &CampaignContext<'_>, name: &str, rows: u64) {
    ctx.emit(CampaignEvent::Load(LoadEvent::Phase(name.to_owned(), rows)));
}

/// A difference between a table and its description: what differs, the actual value, and the expected value.
pub(super) type TableMismatch = (String, String, String);

/// Counts the rows and sums the keys; returns the count, and what differs from the description.
pub(super) fn check_table(
    target: &dyn Target,
    table: &DescribedTable,
) -> Result<(String, Vec<TableMismatch>), TargetError> {
    let keys = table.whole_keys();
    let column = |key: &usize| table.columns()[*key].name.as_str();
    let sums: String = keys.iter().map(|key| format!(", SUM({})", column(key))).collect();
    let rows = query_rows(target, &format!("SELECT COUNT(*){sums} FROM {}", table.name()))?;
    let figure_at = |place: usize| {
        let text = rows.first().map(|row| row.text(place)).unwrap_or_default();
        // The sum over no rows is NULL.
        if text.is_empty() { "0".to_owned() } else { text.to_owned() }
    };
    let (count, wanted) = (figure_at(0), table.rows().to_string());
    let mut wrong = Vec::new();
    if count != wanted {
        wrong.push(("the number of rows".to_owned(), count.clone(), wanted));
    }
    for (place, key) in keys.iter().enumerate() {
        let (sum, wanted) = (figure_at(place + 1), table.sum(*key).to_string());
        if sum != wanted {
            wrong.push((format!("the sum of {}", column(key)), sum, wanted));
        }
    }
    Ok((count, wrong))
}

/// Compares a table with its description.
fn verify(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    let (_, wrong) = check_table(target, table)?;
    let Some((what, there, wanted)) = wrong.into_iter().next() else { return Ok(()) };
    let message = format!("{what} of {} is {there}, and has to be {wanted}", table.name());
    Err(TargetError::new(TargetErrorKind::Data, message)
        .hint("something else changed its rows; `dyno load --replace` loads it again"))
}
