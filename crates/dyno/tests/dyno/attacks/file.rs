//! Attack files: what is done to a run, when, and the expected result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attack {
    /// Name of the attack: `postgres/stall-before-begin`.
    #[serde(skip)]
    pub(crate) name: String,
    /// What the attack does, in one sentence.
    pub(crate) does: String,
    /// Servers to which it applies; without any, all of its folder's engine.
    #[serde(default)]
    pub(crate) on: Vec<String>,
    /// Whether it belongs to the short pass.
    #[serde(default)]
    pub(crate) quick: bool,
    /// Keys of the run's plan.
    #[serde(default)]
    pub(crate) set: Vec<String>,
    /// Files of a custom workload by name, which is run in place of the block workload.
    #[serde(default)]
    pub(crate) workload: BTreeMap<String, String>,
    /// Another database driven together with the run's.
    #[serde(default)]
    pub(crate) also_in: Option<String>,
    /// SQL executed before the run.
    #[serde(default)]
    pub(crate) setup: Option<String>,
    /// SQL executed after it, so that the next attack finds the original state.
    #[serde(default)]
    pub(crate) restore: Option<String>,
    /// Whether to reload the data afterwards.
    #[serde(default)]
    pub(crate) reload: bool,
    /// Whether to restart the server afterwards.
    #[serde(default)]
    pub(crate) restart: bool,
    #[serde(default, rename = "act")]
    pub(crate) acts: Vec<Act>,
    pub(crate) due: Due,
    #[serde(default, rename = "figure")]
    pub(crate) figures: Vec<Figure>,
}

/// One action during the run; exactly one kind of action is set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Act {
    /// `before`, `warm-up`, `window`, `interval N` or `draining`: the message of the run that triggers it.
    pub(crate) at: String,
    /// SQL of another user, on a separate connection.
    #[serde(default)]
    pub(crate) sql: Option<String>,
    /// Second SQL on that connection, `seconds` later.
    #[serde(default)]
    pub(crate) then: Option<String>,
    /// Whether the SQL is repeated until the run has ended.
    #[serde(default)]
    pub(crate) again: bool,
    /// The database of the SQL or of the other Dyno, if it is not the run's.
    #[serde(default, rename = "in")]
    pub(crate) database: Option<String>,
    /// Whether the attack allows that it is refused.
    #[serde(default)]
    pub(crate) may_fail: bool,
    /// Duration of the action, s.
    #[serde(default)]
    pub(crate) seconds: f64,
    /// Suspends `server`, `dyno`, or the server's process whose title contains this word.
    #[serde(default)]
    pub(crate) stop: Option<String>,
    /// Number of processes that compute until the end.
    #[serde(default)]
    pub(crate) burn: Option<usize>,
    /// `stop` or `kill`: how the server is ended before it is started again.
    #[serde(default)]
    pub(crate) restart: Option<String>,
    /// Command of another Dyno with its arguments.
    #[serde(default)]
    pub(crate) dyno: Option<Vec<String>>,
    /// Megabytes written to the server's device and synced.
    #[serde(default)]
    pub(crate) write_mb: Option<usize>,
    /// Seconds by which the run's wall clock is shifted.
    #[serde(default)]
    pub(crate) clock: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Due {
    /// Any of `valid`, `invalid`, `failed`, `refused`.
    pub(crate) verdict: Vec<String>,
    /// Any of these checks must report it: by failing if the run is invalid, by a warning if it is valid.
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// Words of which at least one must appear.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// Figures that must be marked as including activity of others, if the run is valid.
    #[serde(default)]
    pub(crate) marks: Vec<String>,
    /// Checks that must not warn.
    #[serde(default)]
    pub(crate) quiet: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// `rate`: operations counted ÷ the planned time, or the worked time if longer, ÷ the rate shown. `wall`:
    /// the harness's own time ÷ window. Else a path in the record.
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) min: Option<f64>,
    #[serde(default)]
    pub(crate) max: Option<f64>,
}

/// The folder of attack files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/attacks")
}

/// All attacks of `engine` (`postgres`), and those for every engine, sorted by name.
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
