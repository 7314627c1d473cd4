//! The conclusion of a search: the highest load that keeps the limits.

use serde::{Deserialize, Serialize};

use super::{Conclusion, ConclusionFigures};
use crate::answer::CurveSummaries;
use crate::bracket::{Bracket, SearchTally};
use crate::next::{SearchEvidence, after_search};
use crate::number::{count, sessions};
use crate::points::{MeasuredPoint, Points};

/// One load that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchTrial {
    /// The load: sessions on each schema, or operations per second.
    pub load: u64,
    /// Runs that kept the limits.
    pub kept: u32,
    pub runs: u32,
}

impl SearchTrial {
    /// Whether most of its runs kept the limits.
    fn holds(&self) -> bool {
        self.kept * 2 > self.runs
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The limits, for example `p99 <= 2ms`.
    pub limits: Vec<String>,
    /// What was raised: `sessions` or `rate`.
    pub over: String,
    /// Number of schemas; words show the sessions of all of them.
    pub schemas: u32,
    /// Whether the search found its bracket.
    pub found: bool,
    /// The highest load that keeps the limits in most of its runs; absent where even the lowest does not.
    pub holds: Option<u64>,
    /// The lowest load that does not; absent where even the highest does.
    pub breaks: Option<u64>,
    /// Every load that was tried.
    pub loads: Vec<SearchTrial>,
}

impl SearchResult {
    /// [`over`](Self::over) of a search that raised the number of sessions.
    pub const SESSIONS: &str = "sessions";

    /// The summaries of the search's runs: only loads that keep its limits are capacity.
    pub fn summaries(&self, points: &Points) -> CurveSummaries {
        let load_axis = points.axes.iter().position(|axis| axis.path == points.load_axis());
        let load = |point: &MeasuredPoint| match self.over.as_str() {
            Self::SESSIONS => Some(u64::from(point.sessions) / u64::from(self.schemas.max(1))),
            _ => Some(point.values.get(load_axis?)?.number?.round() as u64),
        };
        // Runs that do not differ in their load are all at the one load that was tried.
        let trial = |point: &MeasuredPoint| match self.loads.as_slice() {
            [only] => Some(only),
            many => many.iter().find(|trial| Some(trial.load) == load(point)),
        };
        let keeps = |point: &MeasuredPoint| trial(point).is_some_and(SearchTrial::holds);
        CurveSummaries::within(points, &self.limits.join(" and "), keeps)
    }

    /// The figures of a search; `found` is its bracket, absent for a search that was interrupted.
    pub fn of(
        limits: Vec<String>,
        over: &str,
        schemas: u32,
        tally: &SearchTally,
        bracket: Option<Bracket>,
    ) -> Self {
        let loads: Vec<SearchTrial> =
            tally.iter().map(|(&load, &(kept, runs))| SearchTrial { load, kept, runs }).collect();
        let breaks = loads.iter().find(|tried| !tried.holds()).map(|tried| tried.load);
        let below = loads.iter().filter(|tried| breaks.is_none_or(|breaks| tried.load < breaks));
        let so_far = Bracket {
            holds: below.filter(|tried| tried.holds()).map(|tried| tried.load).next_back(),
            breaks,
        };
        let Bracket { holds, breaks } = bracket.unwrap_or(so_far);
        Self { limits, over: over.to_owned(), schemas, found: bracket.is_some(), holds, breaks, loads }
    }

    fn evidence(&self) -> SearchEvidence {
        let Self { limits, over, found, holds, breaks, .. } = self;
        let at_bound = self.loads.iter().find(|tried| Some(tried.load) == *holds);
        SearchEvidence {
            limits: limits.clone(),
            over: over.clone(),
            found: *found,
            holds: *holds,
            breaks: *breaks,
            kept: at_bound.map_or((0, 0), |tried| (tried.kept, tried.runs)),
        }
    }

    /// The load in words: `64 sessions`, `5,000 ops/s`.
    fn load_words(&self, load: u64) -> String {
        match self.over.as_str() {
            Self::SESSIONS => sessions((load * u64::from(self.schemas)) as f64),
            _ => format!("{} ops/s", count(load)),
        }
    }

    /// The load with the runs behind it.
    fn end(&self, load: u64) -> String {
        let tried = self.loads.iter().find(|tried| tried.load == load);
        let basis = tried.map_or_else(String::new, |t| format!(" (met in {} of {} runs)", t.kept, t.runs));
        format!("{}{basis}", self.load_words(load))
    }

    /// The bracket in words, each end with the runs behind it.
    fn words(&self) -> String {
        let limits = self.limits.join(" and ");
        match (self.holds, self.breaks) {
            (Some(holds), Some(breaks)) => {
                format!("{limits} holds up to {}, not at {}", self.end(holds), self.end(breaks))
            }
            (Some(holds), None) if self.found => {
                format!("{limits} holds up to {}, the highest load tried", self.end(holds))
            }
            (Some(holds), None) => format!("{limits} holds up to {} at least", self.end(holds)),
            (None, Some(breaks)) => format!("{limits} is not met even at {}", self.end(breaks)),
            (None, None) => format!("{limits}: no run was made"),
        }
    }
}

/// The conclusion of the search named `of`.
pub fn conclusion(campaign_id: &str, stopped: Option<String>, search: SearchResult) -> Conclusion {
    let line = match search.found {
        true => search.words(),
        false => format!("no result yet; so far {}", search.words()),
    };
    let next = after_search(&search.evidence());
    Conclusion::new(campaign_id, stopped, line, Vec::new(), ConclusionFigures::Search(search))
        .followed_by(next)
}
