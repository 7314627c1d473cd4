//! The distribution of the times of operations.

use dyno_analyze::bands::{bands, end_words};
use dyno_record::{Histogram, RunRecord};

use crate::bars::bar;
use crate::number::percent;
use crate::style::{Paint, Style};
use crate::text::{clean, pad, width, wrap};

const BAR_COLUMNS: usize = 50;

/// The distribution as bars over latency bands, with cumulative shares.
pub(super) fn distribution(record: &RunRecord, style: &Style) -> String {
    let timed = ["all", "slice"].into_iter().find_map(|name| {
        let latency = &record.ops.get(name)?.service_us;
        Some((name, latency.histogram.as_deref()?))
    });
    let Some((name, text)) = timed else { return String::new() };
    let histogram = match Histogram::decode(text) {
        Ok(histogram) => histogram,
        Err(error) => {
            return wrap(&clean(&error.to_string()), style.columns(), 2).join(
                "
",
            ) + "
";
        }
    };
    let bands = bands(&histogram);
    let largest = bands.iter().map(|band| band.count).max().unwrap_or(0).max(1);
    let subject = if name == "all" { "all operations" } else { "slices" };
    let mut out =
        format!("{}\n", style.paint(Paint::Dim, &format!("{subject}: band, share, cumulative share")));
    for latency_band in bands {
        let ends = [Some(latency_band.from_us), latency_band.to_us].map(|us| us.map(end_words));
        let band = ends.into_iter().flatten().collect::<Vec<_>>().join(" – ");
        let shares = [latency_band.share_pct, latency_band.under_pct].map(percent);
        let line = format!(
            "{}{band}  {:>5} %  {:>5} %  {}",
            pad(20usize.saturating_sub(width(&band))),
            shares[0],
            shares[1],
            bar(
                latency_band.count as f64 / largest as f64,
                BAR_COLUMNS.min(style.columns().saturating_sub(40))
            )
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
