//! The conclusion of a search: the highest load that keeps the limits.

use serde::{Deserialize, Serialize};

use super::{Conclusion, ConclusionFigures};
use crate::bracket::{Bracket, SearchTally};
use crate::number::{count, sessions};

/// One load that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchTrial {
    /// The load: sessions on each schema, or operations per second.
    pub load: u64,
    /// Runs that kept the limits.
    pub kept: u32,
    pub runs: u32,
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
        let held = |tried: &&SearchTrial| tried.kept * 2 > tried.runs;
        let breaks = loads.iter().find(|tried| !held(tried)).map(|tried| tried.load);
        let below = loads.iter().filter(|tried| breaks.is_none_or(|breaks| tried.load < breaks));
        let so_far = Bracket { holds: below.filter(held).map(|tried| tried.load).next_back(), breaks };
        let Bracket { holds, breaks } = bracket.unwrap_or(so_far);
        Self { limits, over: over.to_owned(), schemas, found: bracket.is_some(), holds, breaks, loads }
    }

    /// The load in words: `64 sessions`, `5,000 ops/s`.
    fn load_words(&self, load: u64) -> String {
        match self.over.as_str() {
            "sessions" => sessions((load * u64::from(self.schemas)) as f64),
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
    Conclusion::new(campaign_id, stopped, line, Vec::new(), ConclusionFigures::Search(search))
}
