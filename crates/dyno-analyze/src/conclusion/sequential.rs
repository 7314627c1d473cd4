//! How a sequential test stopped: its looks, and the reason.

use serde::{Deserialize, Serialize};

use crate::number::{fixed, percent};

/// The looks of a sequential test, and why it stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SequentialResult {
    /// The error rate: at most this share of tests of equal sides reports a difference.
    pub alpha: f64,
    /// The most pairs that the test could make.
    pub pairs_max: u32,
    /// The numbers of pairs after which it was to look.
    pub planned: Vec<u32>,
    /// The looks that it made.
    pub looks: Vec<SequentialLook>,
    pub stop: SequentialStop,
    /// The smallest difference, %, that all pairs would have found in 80 % of the cases; absent
    /// without a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable_pct: Option<f64>,
}

/// One look at the leading measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SequentialLook {
    /// Pairs that were made before the look.
    pub pairs: u32,
    /// The part of the error rate that this look used: the test rejects where p is at most this.
    pub level: f64,
    /// Probability of ranks at least as far apart when both sides are the same.
    pub p: Option<f64>,
    /// The second side minus the first, % of the first.
    pub difference_pct: Option<f64>,
    /// Its interval, %. The intervals of all looks together contain the difference in 95 % of all
    /// tests.
    pub interval_pct: Option<(f64, f64)>,
}

/// Why a sequential test stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequentialStop {
    /// The sides differ, or are equal within the margin; with gates, each gate is decided.
    Decided,
    /// The remaining pairs are unlikely to decide.
    Undecidable,
    /// The runs would decide, but background activity is part of the figures or differs between the
    /// sides.
    Confounded,
    /// All pairs were made, and they do not decide.
    PairsMax,
    /// The test was interrupted, or gave up after failures, before it decided.
    Interrupted,
}

impl SequentialResult {
    /// How the test stopped, in a few words.
    pub fn short(&self) -> String {
        let pairs_max = self.pairs_max;
        let pairs = self.looks.last().map_or(0, |look| look.pairs);
        match self.stop {
            SequentialStop::Decided => format!("decided after {pairs} of at most {pairs_max} pairs"),
            SequentialStop::Undecidable | SequentialStop::Confounded => {
                format!("stopped after {pairs} of at most {pairs_max} pairs")
            }
            SequentialStop::PairsMax => format!("not decided by all {pairs_max} pairs"),
            SequentialStop::Interrupted => "the test ended early".to_owned(),
        }
    }

    /// How the test stopped, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let pairs_max = self.pairs_max;
        let last = self.looks.last();
        let last_look = last.map_or_else(String::new, |look| {
            let p = look.p.map_or_else(String::new, |p| format!("p = {}, ", fixed(p, 4)));
            format!(" ({p}level of this look {})", fixed(look.level, 4))
        });
        let pairs = last.map_or(0, |look| look.pairs);
        let detectable = self.detectable_pct.map_or_else(String::new, |detectable| {
            format!("; {pairs_max} pairs find a difference of {} % in 80 % of the cases", percent(detectable))
        });
        let stop = match self.stop {
            SequentialStop::Decided => {
                format!("decided after {pairs} of at most {pairs_max} pairs{last_look}")
            }
            SequentialStop::Undecidable => format!(
                "stopped after {pairs} of at most {pairs_max} pairs, because the others are unlikely to \
                 decide{last_look}{detectable}"
            ),
            SequentialStop::Confounded => format!(
                "stopped after {pairs} of at most {pairs_max} pairs: background activity takes the verdict away"
            ),
            SequentialStop::PairsMax => {
                format!("not decided by all {pairs_max} pairs{last_look}{detectable}")
            }
            SequentialStop::Interrupted => {
                format!("ended early, so it decides nothing; its last look was after {pairs} pairs")
            }
        };
        let planned: Vec<String> = self.planned.iter().map(u32::to_string).collect();
        format!(
            "{stop}; error rate {} % over the looks after {} pairs",
            percent(100.0 * self.alpha),
            planned.join(", ")
        )
    }
}
