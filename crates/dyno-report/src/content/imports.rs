//! Table of imported records and what was read from each line.

use std::collections::BTreeSet;

use dyno_record::{Metric, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;

/// One row for each record: line, variant, labels, sessions, and every figure that any of them has.
pub fn import_table(records: &[RunRecord], style: &Style) -> String {
    let from = || records.iter().filter_map(|record| record.imported.as_ref());
    let labels: BTreeSet<&String> = from().flat_map(|from| from.labels.keys()).collect();
    let metrics: BTreeSet<&String> = records.iter().flat_map(|record| record.metrics.keys()).collect();
    let parts = records.iter().any(|record| record.one_target_of.is_some());
    let mut columns = vec![GridHead::figures("line", ""), GridHead::tight("run"), GridHead::text("variant")];
    if parts {
        columns.push(GridHead::text("of target"));
    }
    columns.extend(labels.iter().map(|label| GridHead::text(label)));
    columns.push(GridHead::figures("sessions", ""));
    columns.extend(metrics.iter().map(|name| {
        let unit = records.iter().find_map(|record| match record.metrics.get(*name) {
            Some(Metric::Value { unit, .. }) => Some(unit.name()),
            _ => None,
        });
        GridHead::figures(name, unit.unwrap_or_default())
    }));
    let mut table = Grid::new(columns);
    for record in records {
        let source = record.imported.as_ref();
        let line = source.and_then(|from| from.line);
        let mut cells = vec![
            line.map_or_else(GridCell::absent, |line| GridCell::setting(&line.to_string())),
            (&record.id).into(),
            record.variant.as_deref().unwrap_or_default().into(),
        ];
        if parts {
            let url = record.targets.first().map(|target| target.url.as_str()).unwrap_or_default();
            let target = url.rsplit_once("?target=").map_or("", |(_, target)| target);
            cells.push(target.into());
        }
        let label =
            |name: &String| source.and_then(|from| from.labels.get(name)).cloned().unwrap_or_default();
        cells.extend(labels.iter().map(|name| GridCell::from(label(name))));
        cells.push(GridCell::count(Some(u64::from(record.gate.sessions)).filter(|sessions| *sessions > 0)));
        cells.extend(
            metrics.iter().map(|name| GridCell::figure(record.metrics.get(*name).and_then(Metric::value))),
        );
        table.row(cells);
    }
    table.render(style)
}
