//! Groups latencies into bands, as storage engineers do: "47 % in 512–1,000 µs, 90 % under 2 ms".
//!
//! Bands come from whole histograms. Those of several runs are added first; their shares are never
//! averaged.

use dyno_record::Histogram;

use crate::number::{fixed, percent};

/// Upper ends of the bands, µs: powers of two below a millisecond and in milliseconds, like the
/// wait-event histograms. Latencies above the last are in a band without an end.
pub const EDGES_US: [u64; 24] = [
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000,
    256_000, 512_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000,
];

/// The share that "most" stands for in a sentence, %.
const MOST_PCT: f64 = 90.0;

/// One band of latencies, with its share of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyBand {
    /// The lowest latency in the band, µs.
    pub from_us: u64,
    /// The begin of the next band, µs; `None` for the last.
    pub to_us: Option<u64>,
    /// Number of latencies in the band.
    pub count: u64,
    /// Share of all latencies, %.
    pub share_pct: f64,
    /// Share of all latencies in this band and the lower ones, %.
    pub under_pct: f64,
}

impl LatencyBand {
    /// The band in words: `512–1,000 µs`, `1–2 ms`, `over 8 s`.
    pub fn name(&self) -> String {
        let Some(to) = self.to_us else { return format!("over {}", edge(self.from_us)) };
        let (size, unit) = unit(to);
        format!("{}–{} {unit}", scaled(self.from_us, size), scaled(to, size))
    }
}

/// The unit in which a boundary is shown, and its microseconds. A millisecond ends a band of
/// microseconds.
fn unit(us: u64) -> (u64, &'static str) {
    match us {
        0..=1_000 => (1, "µs"),
        1_001..=1_000_000 => (1_000, "ms"),
        _ => (1_000_000, "s"),
    }
}

fn scaled(us: u64, size: u64) -> String {
    let value = us as f64 / size as f64;
    fixed(value, if us.is_multiple_of(size) { 0 } else { 3 })
}

/// A boundary by itself: `512 µs`, `1 ms`, `2 s`.
fn edge(us: u64) -> String {
    let (size, unit) = match us {
        0..1_000 => (1, "µs"),
        1_000..1_000_000 => (1_000, "ms"),
        _ => (1_000_000, "s"),
    };
    format!("{} {unit}", scaled(us, size))
}

/// The bands from the first to the last that holds a latency; empty for an empty histogram.
pub fn bands(histogram: &Histogram) -> Vec<LatencyBand> {
    let mut counts = [0u64; EDGES_US.len() + 1];
    for step in histogram.inner().iter_recorded() {
        // A latency at a boundary belongs to the band that begins there.
        let place = EDGES_US.partition_point(|edge| edge * 1_000 <= step.value_iterated_to());
        counts[place] += step.count_since_last_iteration();
    }
    let total = histogram.count() as f64;
    let mut under = 0;
    let all: Vec<LatencyBand> = counts
        .iter()
        .enumerate()
        .map(|(i, &count)| {
            under += count;
            LatencyBand {
                from_us: if i == 0 { 0 } else { EDGES_US[i - 1] },
                to_us: EDGES_US.get(i).copied(),
                count,
                share_pct: 100.0 * count as f64 / total,
                under_pct: 100.0 * under as f64 / total,
            }
        })
        .collect();
    let holds = |band: &LatencyBand| band.count > 0;
    match (all.iter().position(holds), all.iter().rposition(holds)) {
        (Some(first), Some(last)) => all[first..=last].to_vec(),
        _ => Vec::new(),
    }
}

/// The bands in one sentence: the fullest, and the boundary below which most latencies lie. Empty
/// without bands.
pub fn sentence(bands: &[LatencyBand]) -> String {
    let fullest = bands.iter().rev().max_by_key(|band| band.count);
    let most = bands.iter().find(|band| band.under_pct >= MOST_PCT);
    let Some((fullest, most)) = fullest.zip(most) else { return String::new() };
    let head = format!("{} % in {}", percent(fullest.share_pct), fullest.name());
    match most.to_us {
        Some(to) => format!("{head}, {} % under {}", percent(most.under_pct), edge(to)),
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
        let bands = bands(&histogram(&[(300, 12), (700, 47), (1_500, 31), (3_000, 7), (9_000_000, 3)]));
        assert_eq!(sentence(&bands), "47.0 % in 512–1,000 µs, 90.0 % under 2 ms");
        let names: Vec<_> = bands.iter().filter(|b| b.count > 0).map(LatencyBand::name).collect();
        assert_eq!(names, ["256–512 µs", "512–1,000 µs", "1–2 ms", "2–4 ms", "over 8 s"]);
    }

    #[test]
    fn boundary_latency_belongs_to_the_band_above() {
        let at_edge = bands(&histogram(&[(512, 1)]));
        assert_eq!((at_edge[0].from_us, at_edge[0].to_us), (512, Some(1_000)));
        assert_eq!(bands(&histogram(&[(0, 1)]))[0].name(), "0–1 µs");
        assert_eq!(bands(&histogram(&[(1_500_000, 1)]))[0].name(), "1–2 s");
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
