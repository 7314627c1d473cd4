//! What a campaign does at the moment.

use serde::{Deserialize, Serialize};

/// The activity of a campaign at the moment. Its serialized form is its [`name`](Self::name).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RunPhase {
    /// Nothing yet, or nothing between two activities.
    #[default]
    None,
    /// The next run of a campaign is prepared.
    Preparing,
    /// A run has a name and starts.
    Starting,
    /// The data of a target is checked.
    CheckingData,
    /// Data loaded through one target is not yet visible through all.
    WaitingForData,
    /// Data of another block size is dropped.
    DroppingData,
    /// A small schema is loaded, run and dropped.
    CheckingDeeply,
    /// A command of the plan runs: its name.
    Hook(String),
    /// Data is loaded: the phase of the load, such as `rows`.
    Loading(String),
    /// Driver hosts are awaited: the number that has joined, and that is needed. A name has no numbers.
    AwaitingHosts(usize, usize),
    /// Sessions connect: the number that is ready, and of all. A name has no numbers.
    Connecting(u32, u32),
    /// What a transaction of each class does is measured.
    Learning,
    /// Sessions work, and nothing is measured yet.
    Warmup,
    /// The window of a run.
    Window,
    /// The window is over, and sessions end.
    Draining,
    /// The invariants of a custom workload are checked.
    CheckingInvariants,
    /// The run is audited and stored.
    Storing,
    /// The rows that the run inserted are removed.
    Tidying,
    /// `dyno watch` observes a database.
    Watching,
    /// No run is in progress until the next one begins.
    BetweenRuns,
    /// The user skipped the point of the last run.
    Skipped,
    /// Another activity: a step of an acceptance test, a calibration or a study.
    Other(String),
}

/// Phases without values, with their names.
const NAMED: [(RunPhase, &str); 15] = [
    (RunPhase::None, ""),
    (RunPhase::Preparing, "prepare"),
    (RunPhase::Starting, "start"),
    (RunPhase::CheckingData, "check the data"),
    (RunPhase::WaitingForData, "wait for the data"),
    (RunPhase::DroppingData, "drop the data"),
    (RunPhase::CheckingDeeply, "deep check"),
    (RunPhase::Learning, "learn"),
    (RunPhase::Warmup, "warm-up"),
    (RunPhase::Window, "window"),
    (RunPhase::Draining, "drain"),
    (RunPhase::CheckingInvariants, "check invariants"),
    (RunPhase::Storing, "store"),
    (RunPhase::Tidying, "tidy"),
    (RunPhase::Watching, "watch"),
];

impl RunPhase {
    /// The name in the lines of `--events` and in the API: `window`, `load rows`; empty without an activity.
    pub fn name(&self) -> String {
        match self {
            Self::Hook(name) => format!("hook {name}"),
            Self::Loading(phase) => format!("load {phase}"),
            Self::AwaitingHosts(..) => "driver hosts".to_owned(),
            Self::Connecting(..) => "connect".to_owned(),
            Self::BetweenRuns => "between runs".to_owned(),
            Self::Skipped => "skipped".to_owned(),
            Self::Other(name) => name.clone(),
            named => {
                let name = NAMED.iter().find(|(phase, _)| phase == named);
                name.map(|(_, name)| (*name).to_owned()).unwrap_or_default()
            }
        }
    }

    /// Whether the lines of `--events` contain this phase. The others are short, or between two lines that
    /// say the same.
    pub fn is_written(&self) -> bool {
        let hidden = matches!(self, Self::None | Self::Preparing | Self::Starting | Self::DroppingData);
        let ended = matches!(self, Self::Hook(_) | Self::Storing | Self::BetweenRuns | Self::Skipped);
        !hidden && !ended
    }

    /// Whether sessions connect or are at work for a run.
    pub fn is_under_way(&self) -> bool {
        matches!(self, Self::Connecting(..) | Self::Warmup | Self::Window)
    }

    /// Whether `next` continues this phase with other numbers.
    pub(super) fn is_continued_by(&self, next: &Self) -> bool {
        let has_numbers = matches!(self, Self::AwaitingHosts(..) | Self::Connecting(..));
        has_numbers && std::mem::discriminant(self) == std::mem::discriminant(next)
    }
}

impl From<String> for RunPhase {
    fn from(name: String) -> Self {
        if let Some((phase, _)) = NAMED.iter().find(|(_, known)| *known == name) {
            return phase.clone();
        }
        match name.as_str() {
            "driver hosts" => Self::AwaitingHosts(0, 0),
            "connect" => Self::Connecting(0, 0),
            "between runs" => Self::BetweenRuns,
            "skipped" => Self::Skipped,
            _ => match (name.strip_prefix("load "), name.strip_prefix("hook ")) {
                (Some(phase), _) => Self::Loading(phase.to_owned()),
                (_, Some(hook)) => Self::Hook(hook.to_owned()),
                _ => Self::Other(name),
            },
        }
    }
}

impl From<RunPhase> for String {
    fn from(phase: RunPhase) -> Self {
        phase.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_read_back_from_its_name() {
        let with_values = [
            RunPhase::Hook("before_run".into()),
            RunPhase::Loading("rows".into()),
            RunPhase::AwaitingHosts(0, 0),
            RunPhase::Connecting(0, 0),
            RunPhase::BetweenRuns,
            RunPhase::Skipped,
            RunPhase::Other("revert fast disks".into()),
        ];
        for phase in NAMED.map(|(phase, _)| phase).into_iter().chain(with_values) {
            assert_eq!(RunPhase::from(phase.name()), phase);
        }
        assert_eq!(RunPhase::Connecting(3, 8).name(), "connect");
    }
}
