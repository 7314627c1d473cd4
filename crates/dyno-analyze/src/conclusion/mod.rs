//! What a command concluded from runs that belong together: its figures, and the words for them.
//!
//! A sweep, search, soak or A/B comparison ends with an answer. It is made here, stored with the runs, and shown from
//! there by everything that shows these runs: the words are made once, so that terminal, page and JSON say the same.

pub mod ab;
pub mod search;
pub mod soak;
pub mod study;
pub mod suite;
pub mod sweep;

use dyno_record::SweepId;
use serde::{Deserialize, Serialize};

pub use ab::{Ab, AbSide};
pub use search::{Search, Tried};
pub use soak::Soak;
pub use study::Study;
pub use suite::Suite;
pub use sweep::Sweep;

/// The figures of a conclusion, by the command that came to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Figures {
    /// Of an A/B comparison.
    Ab(Box<Ab>),
    /// Of a search.
    Search(Search),
    /// Of a soak.
    Soak(Soak),
    /// Of a study of variants.
    Study(Box<Study>),
    /// Of a suite of tests.
    Suite(Box<Suite>),
    /// Of a sweep.
    Sweep(Sweep),
    /// As they were stored by a version of Dyno that knows more: of a kind, or of a shape, that is not known here.
    #[serde(untagged)]
    Newer(serde_json::Value),
}

/// What a command concluded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    /// The name that its runs share: `ab-20260321-142501-7f3a`.
    pub of: SweepId,
    /// Why it ended before its end; absent where it came to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The answer in one sentence.
    pub line: String,
    /// What else there is to say, one sentence each.
    pub words: Vec<String>,
    /// The figures that both are made of.
    pub figures: Figures,
}

impl Conclusion {
    fn new(of: &str, stopped: Option<String>, line: String, words: Vec<String>, figures: Figures) -> Self {
        Self { of: of.to_owned(), stopped, line, words, figures }
    }

    /// The word for what it is: `A/B comparison`.
    pub fn kind(&self) -> &'static str {
        match self.figures {
            Figures::Ab(_) => "A/B comparison",
            Figures::Search(_) => "search",
            Figures::Soak(_) => "soak",
            Figures::Study(_) => "study",
            Figures::Suite(_) => "suite",
            Figures::Sweep(_) => "sweep",
            Figures::Newer(_) => "conclusion of a newer version",
        }
    }

    /// The answer, whether the command came to its end, and everything else, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let newer = match &self.figures {
            Figures::Newer(figures) => {
                let kind = figures["kind"].as_str().map_or(String::new(), |kind| format!(" ({kind:?})"));
                Some(format!("another version of Dyno came to it{kind}: use that one to see its figures"))
            }
            _ => None,
        };
        let stopped = self.stopped.iter().map(|why| format!("it did not come to its end: {why}"));
        std::iter::once(self.line.clone())
            .chain(stopped)
            .chain(self.words.iter().cloned())
            .chain(newer)
            .collect()
    }
}

#[cfg(test)]
mod tests;
