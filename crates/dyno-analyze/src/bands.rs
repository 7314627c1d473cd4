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

/// Bands of records in a row, from many rows to few: three for each power of ten, two, one, and so on.
const WIDTHS: [i16; 6] = [PER_ROW, 3, 6, 12, 18, 36];

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

/// The counts of an interval on an axis that holds every time of `window`, in at most `rows_max` rows of equal
/// width: each with its upper end, µs. The axis of a window only grows, so rows do not jump from one interval
/// to the next. Both are bands of records with their counts.
pub fn axis_rows(interval: &[(i16, u64)], window: &[(i16, u64)], rows_max: usize) -> Vec<(f64, u64)> {
    let numbers = || interval.iter().chain(window).map(|(band, _)| *band);
    let Some((low, high)) = numbers().min().zip(numbers().max()) else { return Vec::new() };
    let rows_of = |width: i16| (low.div_euclid(width), high.div_euclid(width));
    let fits = |width: &i16| {
        let (first, last) = rows_of(*width);
        usize::try_from(last - first).unwrap_or(0) < rows_max
    };
    let width = WIDTHS.into_iter().find(fits).unwrap_or(WIDTHS[WIDTHS.len() - 1]);
    let (first, last) = rows_of(width);
    let count = |row: i16| {
        let inside = interval.iter().filter(|(band, _)| band.div_euclid(width) == row);
        inside.map(|(_, count)| count).sum::<u64>()
    };
    (first..=last).map(|row| (row_us(row, width).1, count(row))).collect()
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
            assert!(row.from_us <= from_us && to_us <= row.to_us.unwrap(), "{us} µs: {row:?}");
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

    #[test]
    fn axis_of_a_window_keeps_its_rows_from_interval_to_interval() {
        let of = |times: &[u64]| times.iter().map(|us| (band_of_us(*us as f64), 5)).collect::<Vec<_>>();
        let window = of(&[120, 300, 12_000, 480_000]);
        let ends = |interval: &[u64]| {
            let rows = axis_rows(&of(interval), &window, 5);
            assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 5 * interval.len() as u64);
            rows.iter().map(|row| end_words(row.0)).collect::<Vec<_>>()
        };
        assert_eq!(ends(&[300]), ["1 ms", "10 ms", "100 ms", "1 s"]);
        assert_eq!(ends(&[480_000]), ends(&[120, 12_000]), "the interval does not move the axis");
        assert_eq!(ends(&[2_000_000]), ["1 ms", "10 ms", "100 ms", "1 s", "10 s"], "it holds every time");
        let near = axis_rows(&of(&[120]), &of(&[120, 300, 900]), 5);
        assert_eq!(near.iter().map(|row| end_words(row.0)).collect::<Vec<_>>(), ["215 µs", "464 µs", "1 ms"]);
        let zoomed = axis_rows(&of(&[120]), &window, 40);
        assert!(zoomed.windows(2).all(|pair| (pair[1].0 / pair[0].0 - 2.154).abs() < 0.01), "{zoomed:?}");
        assert!(axis_rows(&[], &[], 5).is_empty());
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
