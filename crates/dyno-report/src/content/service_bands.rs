//! Service times in bands of latency, with cumulative shares.

use dyno_analyze::bands::{bands, sentence};
use dyno_record::{Histogram, RunRecord};

use crate::chart::bars::bar;
use crate::content::timed_events::band_row;
use crate::figures::timed;
use crate::model::table::{Grid, GridHead};
use crate::style::Style;
use crate::text::{clean, wrap};

/// Columns of the largest bar.
const BAR: usize = 40;

/// A sentence about the bands and a row for each; a terminal draws them as bars. `None` without operations; an
/// error if the record's histogram is invalid.
pub(crate) fn service_bands(record: &RunRecord) -> Option<Result<(String, Grid), String>> {
    let (class, latency) = timed(record)?;
    let bands = match Histogram::decode(latency.histogram.as_deref()?) {
        Ok(histogram) => bands(&histogram),
        Err(error) => return Some(Err(error.to_string())),
    };
    let subject = if class == "all" { "all operations" } else { "slices" };
    let mut grid = Grid::new(vec![
        GridHead::figures("band", "").short("", subject),
        GridHead::figures("operations", "").short("", "count"),
        GridHead::figures("share", "%"),
        GridHead::figures("cumulative share", "%").short("", "cumulative"),
        GridHead::text("").only_in_terminal().spare(1),
    ]);
    let largest = bands.iter().map(|band| band.count).max().unwrap_or(0).max(1) as f64;
    for band in &bands {
        let bar = bar(band.count as f64 / largest, BAR).into();
        grid.row(band_row(band).into_iter().chain([bar]));
    }
    Some(Ok((sentence(&bands), grid)))
}

/// The bands for a terminal; empty without operations.
pub(crate) fn service_bands_text(record: &RunRecord, style: &Style) -> String {
    match service_bands(record) {
        None => String::new(),
        Some(Ok((_, grid))) => grid.render(style),
        Some(Err(error)) => wrap(&clean(&error), style.columns(), 2).join("\n") + "\n",
    }
}
