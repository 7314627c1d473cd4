//! The conclusion of a soak: steady state, drift or cliff, and the moments at which work stalled or
//! slowed down.

use dyno_record::{RunId, RunRecord};
use serde::{Deserialize, Serialize};

use super::{Conclusion, ConclusionFigures};
use crate::minutes::{Minute, minutes};
use crate::next::{SoakEvidence, after_soak};
use crate::{stall, steady};

/// A run shorter than this many minutes is shown in this many parts.
const PARTS_MIN: f64 = 10.0;

/// Most parts of a run: up to a day, each part is a minute.
const PARTS_MAX: f64 = 1_440.0;

/// Most marks that are shown individually.
const MARKS_MAX: usize = 10;

const MEASURE: &str = "ops_per_s";

/// The figures of a soak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakResult {
    pub run: RunId,
    /// Length of its parts, s.
    pub part_seconds: f64,
    /// The first steady window; absent where there is none.
    pub steady: Option<steady::SteadyWindow>,
    /// A lasting step, or a drift.
    pub change: steady::SteadyChange,
    /// Moments at which work stalled or slowed down.
    pub marks: Vec<stall::Slowdown>,
    /// The run part by part.
    pub parts: Vec<Minute>,
}

impl SoakResult {
    /// The figures of a run.
    pub fn of(record: &RunRecord) -> Self {
        let seconds = record.window.as_ref().map_or(0.0, |window| window.seconds);
        let part_seconds = match seconds >= PARTS_MIN * 60.0 {
            true => 60.0 * (seconds / PARTS_MAX / 60.0).ceil().max((record.series.interval_s / 60.0).ceil()),
            false => (seconds / PARTS_MIN).max(record.series.interval_s).max(0.1),
        };
        let rounds = steady::rounds(&record.series, part_seconds);
        Self {
            run: record.id.clone(),
            part_seconds,
            steady: steady::steady(&rounds),
            change: steady::change(&rounds),
            marks: stall::marks(&record.series),
            parts: minutes(record, part_seconds),
        }
    }
}

/// The conclusion of the soak named `of`, which is one run.
pub fn conclusion(campaign_id: &str, stopped: Option<String>, record: &RunRecord) -> Conclusion {
    let soak = SoakResult::of(record);
    let length_s = soak.part_seconds;
    let line = steady::sentence(&steady::rounds(&record.series, length_s), length_s, MEASURE);
    let mut words = vec![soak.change.sentence(length_s, MEASURE)];
    words.extend(soak.marks.iter().take(MARKS_MAX).map(stall::Slowdown::phrase));
    if soak.marks.len() > MARKS_MAX {
        words.push(format!("{} more such moments; the table counts them", soak.marks.len() - MARKS_MAX));
    }
    if !record.status.counts() {
        let reason = record.reasons.first().map(|reason| format!(": {reason}")).unwrap_or_default();
        words.push(format!("the run is {}{reason}", record.status.name()));
    }
    let evidence = SoakEvidence {
        seconds: record.window.as_ref().map_or(0.0, |window| window.seconds),
        is_steady: soak.steady.is_some(),
        drifts: matches!(soak.change, steady::SteadyChange::Step { .. } | steady::SteadyChange::Drift { .. }),
    };
    let next = after_soak(&evidence);
    Conclusion::new(campaign_id, stopped, line, words, ConclusionFigures::Soak(soak)).followed_by(next)
}
