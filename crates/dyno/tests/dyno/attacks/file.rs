//! Attack files: what is done to a run, when, and what has to come of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One attack.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attack {
    /// `postgres/stall-before-begin`.
    #[serde(skip)]
    pub(crate) name: String,
    /// What is done, in one sentence.
    pub(crate) does: String,
    /// Servers that it is for; all of its folder's where none is named.
    #[serde(default)]
    pub(crate) on: Vec<String>,
    /// Whether it is part of the short pass.
    #[serde(default)]
    pub(crate) quick: bool,
    /// Keys of the run's plan.
    #[serde(default)]
    pub(crate) set: Vec<String>,
    /// Files of a custom workload by name, which is run in place of the block workload.
    #[serde(default)]
    pub(crate) workload: BTreeMap<String, String>,
    /// Another database that is driven together with the run's.
    #[serde(default)]
    pub(crate) also_in: Option<String>,
    /// SQL before the run.
    #[serde(default)]
    pub(crate) setup: Option<String>,
    /// SQL after it, so that the next attack finds things as they were.
    #[serde(default)]
    pub(crate) restore: Option<String>,
    /// Whether the data is loaded anew afterwards.
    #[serde(default)]
    pub(crate) reload: bool,
    /// Whether the server is started anew afterwards.
    #[serde(default)]
    pub(crate) restart: bool,
    #[serde(default, rename = "act")]
    pub(crate) acts: Vec<Act>,
    pub(crate) due: Due,
    #[serde(default, rename = "figure")]
    pub(crate) figures: Vec<Figure>,
}

/// One thing that is done while the run goes on; exactly one of the doings.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Act {
    /// `before`, `warm-up`, `window`, `interval N` or `draining`: what the run says when it gets there.
    pub(crate) at: String,
    /// SQL of somebody else, on a connection of its own.
    #[serde(default)]
    pub(crate) sql: Option<String>,
    /// The same on the same connection, `seconds` later.
    #[serde(default)]
    pub(crate) then: Option<String>,
    /// Whether the SQL is run again and again until the run has ended.
    #[serde(default)]
    pub(crate) again: bool,
    /// The database that the SQL or the other Dyno works in, where it is not the run's.
    #[serde(default, rename = "in")]
    pub(crate) database: Option<String>,
    /// Whether it is a part of the attack that it may be refused.
    #[serde(default)]
    pub(crate) may_fail: bool,
    /// How long what is done lasts.
    #[serde(default)]
    pub(crate) seconds: f64,
    /// Suspends `server`, `dyno`, or the server's process whose title has this word.
    #[serde(default)]
    pub(crate) stop: Option<String>,
    /// Processes that compute until the end.
    #[serde(default)]
    pub(crate) burn: Option<usize>,
    /// `stop` or `kill`: the server is ended so and started again.
    #[serde(default)]
    pub(crate) restart: Option<String>,
    /// Another Dyno's command with its arguments.
    #[serde(default)]
    pub(crate) dyno: Option<Vec<String>>,
    /// Megabytes that are written to the server's device, and synced.
    #[serde(default)]
    pub(crate) write_mb: Option<usize>,
    /// Seconds by which the run's wall clock is set.
    #[serde(default)]
    pub(crate) clock: Option<String>,
}

/// What has to come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Due {
    /// Any of `valid`, `invalid`, `failed`, `refused`.
    pub(crate) verdict: Vec<String>,
    /// Any of these checks has to say so: by failing where the run is invalid, by a warning where it is valid.
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// Words of which any has to be said.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// Figures that have to be marked as not the run's alone, where it is valid.
    #[serde(default)]
    pub(crate) marks: Vec<String>,
    /// Checks that may not warn.
    #[serde(default)]
    pub(crate) quiet: Vec<String>,
}

/// A figure within bounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// `rate`: operations counted ÷ the time that was planned, or worked if longer, ÷ rate shown. `wall`: the harness's own time ÷ window. Else a path in the record.
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) min: Option<f64>,
    #[serde(default)]
    pub(crate) max: Option<f64>,
}

/// The folder of attack files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks")
}

/// All attacks of `engine` (`postgres`), and those that are made on every engine, sorted by name.
pub(crate) fn of_engine(engine: &str) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for part in ["any", engine] {
        let files = std::fs::read_dir(folder().join(part)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut attack: Attack =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            attack.name = format!("{part}/{}", file.file_stem().unwrap().to_string_lossy());
            attacks.push(attack);
        }
    }
    attacks
}
