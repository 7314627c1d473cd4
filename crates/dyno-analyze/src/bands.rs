//! Groups latencies into the bands of records, for tables and screens: "47 % in 464–1,000 µs, 90 % under
//! 2.15 ms".
//!
//! Records define the bands ([`band_of_us`]): six for each power of ten. A row holds two of them, or more where
//! there is less room; rows of one display have the same width on a logarithmic axis. Bands come from whole
//! histograms. Those of several runs are added first; their shares are never averaged.

use dyno_record::{Histogram, band_of_us, band_us};

use crate::number::{fixed, percent};

/// Bands of records in a row of a table: three rows for each power of ten.
const PER_ROW: i16 = 2;

/// Bands of records in each power of ten.
const PER_DECADE: i16 = 6;

/// Bands of records in a row of an axis, from many rows to few: three rows for each power of ten, two, one, and
/// so on.
const WIDTHS: [i16; 5] = [PER_ROW, 3, 6, 12, 36];

/// One latency of so many at either end does not belong to the bulk of an axis.
const TAIL: u64 = 100;

/// An axis with more rows than this keeps one free.
const SPARE_FROM: i16 = 4;

/// Upper ends of the bands in which databases count waits, µs: powers of two below a millisecond and in
/// milliseconds. They divide time otherwise than records, and what they counted cannot be divided again.
const DATABASE_ENDS_US: [u64; 24] = [
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000,
    256_000, 512_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000,
];

/// The share that "most" stands for in a sentence, %.
const MOST_PCT: f64 = 90.0;

/// One band of latencies, with its share of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyBand {
    /// The lowest latency in the band, µs.
    pub from_us: f64,
    /// The begin of the next band, µs; `None` for the last of a database.
    pub to_us: Option<f64>,
    /// Number of latencies in the band.
    pub count: u64,
    /// Share of all latencies, %.
    pub share_pct: f64,
    /// Share of all latencies in this band and the lower ones, %.
    pub under_pct: f64,
}

impl LatencyBand {
    /// The band in words: `464–1,000 µs`, `1–2.15 ms`, `over 8 s`.
    pub fn name(&self) -> String {
        let Some(to) = self.to_us else { return format!("over {}", end_words(self.from_us)) };
        // A millisecond ends a band of microseconds.
        let (size, unit) = unit(to * 0.999);
        format!("{}–{} {unit}", scaled(self.from_us, size), scaled(to, size))
    }
}

/// The unit in which a time is shown, and its microseconds.
fn unit(us: f64) -> (f64, &'static str) {
    match us {
        us if us < 0.9995 => (1e-3, "ns"),
        us if us < 999.5 => (1.0, "µs"),
        us if us < 999_500.0 => (1e3, "ms"),
        _ => (1e6, "s"),
    }
}

/// Three significant digits, without zeros at the end.
fn scaled(us: f64, size: f64) -> String {
    let value = us / size;
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    let text = fixed(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A boundary of a band by itself: `464 µs`, `1 ms`, `2.15 s`.
pub fn end_words(us: f64) -> String {
    let (size, unit) = unit(us);
    format!("{} {unit}", scaled(us, size))
}

/// The rows of a table of this histogram, from the first to the last that holds a latency; empty for an empty
/// histogram.
pub fn bands(histogram: &Histogram) -> Vec<LatencyBand> {
    let mut rows: Vec<(i16, u64)> = Vec::new();
    for (us, count) in times_us(histogram) {
        let row = band_of_us(us).div_euclid(PER_ROW);
        let first = rows.first().map_or(row, |(first, _)| *first);
        while rows.len() <= usize::try_from(row - first).unwrap_or(0) {
            rows.push((first + rows.len() as i16, 0));
        }
        if let Some((_, counted)) = rows.last_mut() {
            *counted += count;
        }
    }
    with_shares(rows.into_iter().map(|(row, count)| {
        let (from_us, to_us) = row_us(row, PER_ROW);
        (from_us, Some(to_us), count)
    }))
}

/// As [`bands`], for a histogram that a database has counted in its own bands.
pub fn database_bands(histogram: &Histogram) -> Vec<LatencyBand> {
    let mut counts = [0u64; DATABASE_ENDS_US.len() + 1];
    for (us, count) in times_us(histogram) {
        // A latency at a boundary belongs to the band that begins there.
        counts[DATABASE_ENDS_US.partition_point(|end| *end as f64 <= us)] += count;
    }
    let holds = |count: &u64| *count > 0;
    let first = counts.iter().position(holds).unwrap_or(0);
    let last = counts.iter().rposition(holds).map_or(0, |last| last + 1);
    with_shares((first..last).map(|at| {
        let from_us = if at == 0 { 0.0 } else { DATABASE_ENDS_US[at - 1] as f64 };
        (from_us, DATABASE_ENDS_US.get(at).map(|end| *end as f64), counts[at])
    }))
}

/// The axis of latencies on a live display. It covers the bulk of all latencies that it was extended with, and
/// only grows: a single slow operation does not move its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LatencyAxis {
    /// The lowest and the highest band of the bulk.
    bulk: Option<(i16, i16)>,
}

/// One row of a [`LatencyAxis`], with the latencies of an interval in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyAxisRow {
    /// The end of the row, µs; of the last row, its begin.
    pub bound_us: f64,
    /// Whether it holds all latencies from `bound_us` on: so does the last row.
    pub is_open: bool,
    /// Number of latencies; those below the axis belong to the first row.
    pub count: u64,
}

impl LatencyAxis {
    /// Extends the axis from the 1st to the 99th percentile of an interval, whose bands are those of records
    /// with their counts.
    pub fn extend(&mut self, bands: &[(i16, u64)]) {
        let mut sorted = bands.to_vec();
        sorted.sort_unstable();
        let total: u64 = sorted.iter().map(|(_, count)| count).sum();
        let at = |rank: u64| {
            let mut below = 0;
            let holds = |(_, count): &&(i16, u64)| {
                below += count;
                below >= rank
            };
            sorted.iter().find(holds).map(|(band, _)| *band)
        };
        let ranks = ((total / TAIL).max(1), total - total / TAIL);
        if let Some((low, high)) = at(ranks.0).zip(at(ranks.1)).filter(|_| total > 0) {
            self.bulk = Some(self.bulk.map_or((low, high), |known| (known.0.min(low), known.1.max(high))));
        }
    }

    /// The rows with the counts of an interval, at most `rows_max`, at least two; empty before the first
    /// extension. Rows have the same width on a logarithmic scale, except the first and the last.
    pub fn rows(&self, interval: &[(i16, u64)], rows_max: usize) -> Vec<LatencyAxisRow> {
        let Some((low, high)) = self.bulk else { return Vec::new() };
        let closed_max = i16::try_from(rows_max.saturating_sub(1)).unwrap_or(i16::MAX).max(1);
        let needed = |width: i16| high.div_euclid(width) - low.div_euclid(width) + 1;
        // A spare row keeps the rows in place when latencies rise a little.
        let spare = i16::from(closed_max > SPARE_FROM);
        let width = WIDTHS.into_iter().find(|width| needed(*width) + spare <= closed_max);
        let width = width.unwrap_or(WIDTHS[WIDTHS.len() - 1]);
        let decade = (PER_DECADE / width).max(1);
        let first = low.div_euclid(width);
        let last = first + closed_max.min(needed(width) + decade) - 1;
        let mut rows: Vec<LatencyAxisRow> = (first..=last)
            .map(|row| LatencyAxisRow { bound_us: row_us(row, width).1, is_open: false, count: 0 })
            .collect();
        rows.push(LatencyAxisRow { bound_us: row_us(last, width).1, is_open: true, count: 0 });
        for (band, count) in interval {
            let place = (band.div_euclid(width) - first).clamp(0, last - first + 1);
            rows[usize::try_from(place).unwrap_or(0)].count += count;
        }
        rows
    }
}

fn times_us(histogram: &Histogram) -> impl Iterator<Item = (f64, u64)> + '_ {
    let recorded = histogram.inner().iter_recorded();
    recorded.map(|step| (step.value_iterated_to() as f64 / 1_000.0, step.count_since_last_iteration()))
}

/// Lower and upper end of a row of `width` bands, µs.
fn row_us(row: i16, width: i16) -> (f64, f64) {
    (band_us(row * width).0, band_us(row * width + width - 1).1)
}

fn with_shares(rows: impl Iterator<Item = (f64, Option<f64>, u64)>) -> Vec<LatencyBand> {
    let rows: Vec<_> = rows.collect();
    let total = rows.iter().map(|(.., count)| count).sum::<u64>() as f64;
    let mut under = 0;
    let band = |(from_us, to_us, count): (f64, Option<f64>, u64)| {
        under += count;
        let (share_pct, under_pct) = (100.0 * count as f64 / total, 100.0 * under as f64 / total);
        LatencyBand { from_us, to_us, count, share_pct, under_pct }
    };
    rows.into_iter().map(band).collect()
}

/// The bands in one sentence: the fullest, and the boundary below which most latencies lie. Empty
/// without bands.
pub fn sentence(bands: &[LatencyBand]) -> String {
    let fullest = bands.iter().rev().max_by_key(|band| band.count);
    let most = bands.iter().find(|band| band.under_pct >= MOST_PCT);
    let Some((fullest, most)) = fullest.zip(most) else { return String::new() };
    let head = format!("{} % in {}", percent(fullest.share_pct), fullest.name());
    match most.to_us {
        Some(to) => format!("{head}, {} % under {}", percent(most.under_pct), end_words(to)),
        None => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(latencies_us: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        latencies_us.iter().for_each(|&(us, count)| histogram.record_n_ns(us * 1_000, count));
        histogram
    }

    #[test]
    fn latency_band_sentence_and_names_are_exact() {
        let all = bands(&histogram(&[(300, 12), (700, 47), (1_500, 31), (3_000, 7), (9_000_000, 3)]));
        assert_eq!(sentence(&all), "47.0 % in 464–1,000 µs, 90.0 % under 2.15 ms");
        let names: Vec<_> = all.iter().filter(|b| b.count > 0).map(LatencyBand::name).collect();
        assert_eq!(names, ["215–464 µs", "464–1,000 µs", "1–2.15 ms", "2.15–4.64 ms", "4.64–10 s"]);
        let short = |us| bands(&histogram(&[(us, 1)]))[0].name();
        assert_eq!([short(1), short(100), short(1_500_000)], ["1–2.15 µs", "100–215 µs", "1–2.15 s"]);
    }

    #[test]
    fn rows_of_a_table_are_bands_of_records() {
        for us in [1, 3, 99, 100, 214, 216, 999, 1_000, 46_000, 90_000_000] {
            let row = bands(&histogram(&[(us, 1)]))[0];
            let (from_us, to_us) = band_us(band_of_us(us as f64));
            assert!(row.from_us <= from_us, "{us} µs: {row:?}");
            assert!(to_us <= row.to_us.unwrap(), "{us} µs: {row:?}");
        }
    }

    #[test]
    fn database_bands_keep_the_bounds_of_the_database() {
        let at_end = database_bands(&histogram(&[(512, 1)]));
        assert_eq!((at_end[0].from_us, at_end[0].to_us), (512.0, Some(1_000.0)));
        let waits = database_bands(&histogram(&[(384, 3), (1_500_000, 1), (9_000_000, 1)]));
        let names: Vec<_> = waits.iter().filter(|b| b.count > 0).map(LatencyBand::name).collect();
        assert_eq!(names, ["256–512 µs", "1–2 s", "over 8 s"]);
    }

    fn labels(rows: &[LatencyAxisRow]) -> Vec<String> {
        let label = |row: &LatencyAxisRow| {
            let sign = if row.is_open { ">" } else { "≤" };
            format!("{sign} {}: {}", end_words(row.bound_us), row.count)
        };
        rows.iter().map(label).collect()
    }

    #[test]
    fn latency_axis_keeps_its_rows_after_one_slow_operation() {
        let of = |times: &[(u64, u64)]| {
            times.iter().map(|(us, count)| (band_of_us(*us as f64), *count)).collect::<Vec<_>>()
        };
        let mut axis = LatencyAxis::default();
        assert!(axis.rows(&[], 6).is_empty());
        let usual = of(&[(120, 900), (900, 100)]);
        axis.extend(&usual);
        let before = axis.rows(&usual, 6);
        assert_eq!(
            labels(&before),
            ["≤ 215 µs: 900", "≤ 464 µs: 0", "≤ 1 ms: 100", "≤ 2.15 ms: 0", "≤ 4.64 ms: 0", "> 4.64 ms: 0"]
        );
        let outlier = of(&[(15, 2), (120, 900), (900, 100), (480_000, 3)]);
        axis.extend(&outlier);
        let after = axis.rows(&outlier, 6);
        let bounds = |rows: &[LatencyAxisRow]| rows.iter().map(|row| row.bound_us).collect::<Vec<_>>();
        assert_eq!(bounds(&after), bounds(&before), "neither tail moves the rows");
        assert_eq!((after[0].count, after[5].count), (902, 3), "the outer rows hold the tails");
    }

    #[test]
    fn latency_axis_grows_and_never_shrinks() {
        let of = |us: u64| vec![(band_of_us(us as f64), 100)];
        let mut axis = LatencyAxis::default();
        axis.extend(&of(120));
        axis.extend(&of(480_000));
        let wide = axis.rows(&of(480_000), 6);
        assert_eq!(
            labels(&wide),
            ["≤ 1 ms: 0", "≤ 10 ms: 0", "≤ 100 ms: 0", "≤ 1 s: 100", "≤ 10 s: 0", "> 10 s: 0"]
        );
        axis.extend(&of(120));
        assert_eq!(labels(&axis.rows(&of(120), 6))[0], "≤ 1 ms: 100");
        for rows_max in 0..60 {
            let rows = axis.rows(&of(480_000), rows_max);
            assert!((2..=rows_max.max(2)).contains(&rows.len()), "{rows_max}: {rows:?}");
            assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 100);
        }
    }

    #[test]
    fn empty_histogram_has_no_latency_bands() {
        assert!(bands(&Histogram::new()).is_empty());
        assert_eq!(sentence(&[]), "");
    }

    proptest! {
        #[test]
        fn latency_bands_cover_every_latency_once(latencies in prop::collection::vec((0u64..20_000_000, 1u64..1_000), 1..40)) {
            let histogram = histogram(&latencies);
            let bands = bands(&histogram);
            prop_assert_eq!(bands.iter().map(|band| band.count).sum::<u64>(), histogram.count());
            prop_assert!((bands.last().unwrap().under_pct - 100.0).abs() < 1e-9);
            prop_assert!(bands.windows(2).all(|pair| pair[0].to_us == Some(pair[1].from_us)));
        }
    }
}
