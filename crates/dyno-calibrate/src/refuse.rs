//! Decides which figures do not describe the device and refuses them.

use dyno_record::RawFigure;

use crate::device_counters::DeviceActivity;

/// Below this share of the requested bytes in the device's counters, the device did not serve the requests,
/// %.
const REACHED_LEAST_PCT: f64 = 95.0;
/// From this share on, activity of others on the device is noted, %.
const OTHERS_FROM_PCT: f64 = 110.0;
/// Highest accepted ratio of requests in flight by Little's law to the configured number: clocks are read at
/// slightly different moments.
const LITTLE_MOST: f64 = 1.2;

/// Bytes that a step requested.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestedBytes {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

/// Adds the device's counters to `figure`, and removes its values where they cannot be the device's.
/// `memory_mb_per_s` is the measured memory bandwidth, where it is known.
pub(crate) fn judge_figure(
    mut figure: RawFigure,
    asked: RequestedBytes,
    moved: Option<DeviceActivity>,
    memory_mb_per_s: Option<f64>,
) -> RawFigure {
    let Some(moved) = moved else {
        return figure
            .refused("there are no counters of the device, so it is unknown what answered".to_owned());
    };
    let share = |asked: u64, moved: u64| (asked > 0).then(|| moved as f64 * 100.0 / asked as f64);
    let shares = [share(asked.read_bytes, moved.read_bytes), share(asked.write_bytes, moved.write_bytes)];
    figure.device_pct = shares.into_iter().flatten().reduce(f64::min);
    match rejection_reason(&figure, memory_mb_per_s) {
        Some(why) => figure.refused(why),
        None => {
            let most = shares.into_iter().flatten().reduce(f64::max).unwrap_or(100.0);
            if most > OTHERS_FROM_PCT {
                figure.notes.push(format!(
                    "the device transferred {most:.0} % of the requested bytes: other processes used it, or \
                        the file system wrote more"
                ));
            }
            figure
        }
    }
}

/// Why a figure does not describe the device; `None` if it does.
fn rejection_reason(figure: &RawFigure, memory_mb_per_s: Option<f64>) -> Option<String> {
    match figure.device_pct {
        None => return Some("nothing was requested".to_owned()),
        Some(pct) if pct < REACHED_LEAST_PCT => {
            return Some(format!(
                "only {pct:.0} % of the requested bytes reached the device: a cache answered the others"
            ));
        }
        Some(_) => {}
    }
    let per_s = figure.per_s.unwrap_or(0.0);
    if !(per_s > 0.0 && per_s.is_finite()) {
        return Some("no request was answered".to_owned());
    }
    let times = [figure.mean_us, figure.p95_us, figure.p99_us];
    if times.into_iter().flatten().any(|us| !(us > 0.0 && us.is_finite())) {
        return Some("it has a latency of 0, which no device has".to_owned());
    }
    let at_once = figure.mean_us.map_or(0.0, |us| per_s * us / 1e6);
    if at_once > f64::from(figure.in_flight) * LITTLE_MOST {
        return Some(format!(
            "rate times latency gives {at_once:.1} requests at once, but at most {} were sent",
            figure.in_flight
        ));
    }
    let (mb_per_s, memory) = (figure.mb_per_s?, memory_mb_per_s?);
    (mb_per_s > memory).then(|| {
        format!("{mb_per_s:.0} MB/s is more than memory reached ({memory:.0} MB/s), so it was not the device")
    })
}

#[cfg(test)]
mod tests {
    use dyno_record::RawTest;

    use super::*;

    fn figure() -> RawFigure {
        RawFigure {
            per_s: Some(10_000.0),
            mb_per_s: Some(81.92),
            mean_us: Some(790.0),
            p95_us: Some(1000.0),
            p99_us: Some(2000.0),
            ..RawFigure::of(RawTest::RandomRead, Some(8192), 2, 8)
        }
    }

    const ASKED: RequestedBytes = RequestedBytes { read_bytes: 1 << 30, write_bytes: 0 };

    fn why(figure: RawFigure, read_bytes: u64) -> Option<String> {
        let moved = DeviceActivity { read_bytes, ..DeviceActivity::default() };
        let judged = judge_figure(figure, ASKED, Some(moved), Some(20_000.0));
        assert_eq!(judged.refused.is_some(), judged.per_s.is_none(), "{judged:?}");
        judged.refused
    }

    #[test]
    fn figure_answered_by_device_is_accepted() {
        assert_eq!(why(figure(), 1 << 30), None);
    }

    #[test]
    fn figure_answered_by_page_cache_is_refused() {
        let reason = why(figure(), 1 << 26).unwrap();
        assert!(reason.contains("only 6 % of the requested bytes reached the device"), "{reason}");
        let untold = judge_figure(figure(), ASKED, None, None);
        assert!(untold.refused.unwrap().contains("no counters of the device"));
    }

    #[test]
    fn implausible_calibration_figures_are_refused() {
        let zero = RawFigure { p99_us: Some(0.0), ..figure() };
        assert!(why(zero, 1 << 30).unwrap().contains("latency of 0"));
        let fast = RawFigure { mb_per_s: Some(30_000.0), ..figure() };
        assert!(why(fast, 1 << 30).unwrap().contains("more than memory reached"));
        let many = RawFigure { per_s: Some(100_000.0), ..figure() };
        assert!(why(many, 1 << 30).unwrap().contains("79.0 requests at once, but at most 8 were sent"));
        let idle = RawFigure { per_s: Some(0.0), ..figure() };
        assert!(why(idle, 1 << 30).unwrap().contains("no request"));
    }

    #[test]
    fn foreign_reads_on_the_device_are_reported() {
        let moved = DeviceActivity { read_bytes: 3 << 30, ..DeviceActivity::default() };
        let judged = judge_figure(figure(), ASKED, Some(moved), None);
        assert_eq!(judged.refused, None);
        assert!(judged.notes[0].contains("transferred 300 %"), "{:?}", judged.notes);
    }
}
