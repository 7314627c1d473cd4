//! Operations by class with percentiles, and the distribution of their times.

use dyno_analyze::bands::{bands, end_words};
use dyno_record::{Histogram, Latency, RunRecord};

use crate::bars::bar;
use crate::extra_counts::extra_counts;
use crate::number::{ABSENT, percent, time_us, within};
use crate::style::{Paint, Style};
use crate::table::{TextCell, TextColumn, TextTable};
use crate::text::{clean, pad, width, wrap};

/// Characters of a count or rate before it is abbreviated.
const FIGURE_MAX: usize = 11;

const BAR_COLUMNS: usize = 50;

fn time(value: Option<f64>) -> TextCell {
    value.map_or_else(|| TextCell::from(ABSENT), |us| time_us(us).into())
}

/// One row for each class; includes response times if they differ from service times.
pub(super) fn classes(record: &RunRecord, style: &Style) -> String {
    if record.ops.is_empty() {
        return String::new();
    }
    let service = |head: &str| TextColumn::figures(head, "");
    let mut columns = vec![
        TextColumn::text("class"),
        TextColumn::figures("count", ""),
        TextColumn::figures("errors", ""),
        TextColumn::figures("rate", "/s"),
    ];
    let extra = extra_counts(record);
    columns.extend(extra.iter().map(|(head, _)| TextColumn::figures(head, "")));
    columns.extend([
        service("mean"),
        service("p50"),
        service("p90").droppable(),
        service("p95").droppable(),
        service("p99"),
        service("p99.9"),
        service("max"),
    ]);
    let mut table = TextTable::new(columns);
    let times = |l: &Latency| [l.mean, l.p50, l.p90, l.p95, l.p99, l.p999, l.max].map(time);
    for (name, ops) in record.by_class() {
        let figures =
            [ops.count as f64, ops.errors as f64, ops.rate_per_s].map(|value| within(value, FIGURE_MAX));
        let head = std::iter::once(TextCell::from(name)).chain(figures.map(TextCell::from));
        let counts = extra.iter().map(|(_, of)| TextCell::from(within(of(ops) as f64, FIGURE_MAX)));
        table.row(head.chain(counts).chain(times(&ops.service_us)));
        if ops.response_us != ops.service_us {
            let head = ["  response".into(), TextCell::default(), TextCell::default(), TextCell::default()];
            let empty = extra.iter().map(|_| TextCell::default());
            table.row(head.into_iter().chain(empty).chain(times(&ops.response_us)));
        }
        if let Some(untimed) = &ops.untimed {
            table.note(&format!("not timed separately: {untimed}"), Paint::Dim);
        }
    }
    table.render(style)
}

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
