//! Operations by class with percentiles, and the distribution of their times.

use dyno_record::{Histogram, Latency, RunRecord};

use crate::bars::bar;
use crate::extra_counts::extra_counts;
use crate::number::{ABSENT, count, percent, time_us, within};
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

/// Upper ends of latency bands in nanoseconds: 1, 2, 5 × 10ⁿ, up to the histogram's maximum.
fn band_ends() -> impl Iterator<Item = u64> {
    (0..14).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)))
}

/// Operations per band as (low, high, count) in nanoseconds, from the first non-empty band to the last.
fn bands(histogram: &Histogram) -> Vec<(u64, u64, u64)> {
    let ends: Vec<u64> = band_ends().collect();
    let mut counts = vec![0u64; ends.len()];
    for value in histogram.inner().iter_recorded() {
        let ns = value.value_iterated_to();
        let band = ends.partition_point(|&end| end < ns).min(ends.len() - 1);
        counts[band] += value.count_since_last_iteration();
    }
    let first = counts.iter().position(|&count| count > 0).unwrap_or(0);
    let last = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    (first..last).map(|i| (if i == 0 { 0 } else { ends[i - 1] }, ends[i], counts[i])).collect()
}

/// The distribution as bars over bands of 1-2-5, with cumulative shares.
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
    let total = histogram.count().max(1);
    let bands = bands(&histogram);
    let largest = bands.iter().map(|&(_, _, count)| count).max().unwrap_or(0).max(1);
    let subject = if name == "all" { "all operations" } else { "slices" };
    let mut out =
        format!("{}\n", style.paint(Paint::Dim, &format!("{subject}: band, share, cumulative share")));
    let mut so_far = 0u64;
    let label = |ns: u64| time_us_short(ns);
    for (low, high, in_band) in bands {
        so_far += in_band;
        let band = format!("{} – {}", label(low), label(high));
        let shares = [in_band, so_far].map(|count| percent(count as f64 * 100.0 / total as f64));
        let line = format!(
            "{}{band}  {:>5} %  {:>5} %  {}",
            pad(20usize.saturating_sub(width(&band))),
            shares[0],
            shares[1],
            bar(in_band as f64 / largest as f64, BAR_COLUMNS.min(style.columns().saturating_sub(40)))
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The end of a band, which has one digit: `200 ns`, `5 µs`, `10 ms`.
fn time_us_short(ns: u64) -> String {
    let (value, unit) = match ns {
        0..=999 => (ns, "ns"),
        1_000..=999_999 => (ns / 1_000, "µs"),
        1_000_000..=999_999_999 => (ns / 1_000_000, "ms"),
        _ => (ns / 1_000_000_000, "s"),
    };
    format!("{} {unit}", count(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_in_exactly_one_band() {
        let mut histogram = Histogram::new();
        let values = [1, 999, 1_000, 1_001, 2_000, 61_000, 5_000_000, 80_000_000_000_000];
        values.into_iter().for_each(|ns| histogram.record_ns(ns));
        let bands = bands(&histogram);
        assert_eq!(bands.iter().map(|&(_, _, count)| count).sum::<u64>(), 8);
        assert!(bands.contains(&(500, 1_000, 2)), "{bands:?}");
        assert!(bands.contains(&(1_000, 2_000, 2)), "{bands:?}");
        assert!(bands.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }
}
