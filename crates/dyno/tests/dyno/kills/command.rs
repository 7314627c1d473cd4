//! The commands to kill: each command that takes some time, with data small enough for many kills.

use std::time::Duration;

use crate::common::TestEnv;

/// Rows of the table, one per block.
pub(crate) const ROWS: i64 = 1_000;

/// Rows that an update changes.
pub(crate) const WORK_UNIT: i64 = 4;

/// Records in the imported file.
pub(crate) const IMPORTED: i64 = 300;

/// Number of runs of the sweep.
pub(crate) const SWEPT: usize = 4;

const DATA: [&str; 2] = ["data.scale=1000 blocks", "data.scan_scale=50 blocks"];

/// Reads and writes of every kind; every wait for a server is bounded.
const RUN: [&str; 8] = [
    "run.warmup=100ms",
    "run.drain=5s",
    "run.sessions_per_schema=2",
    "observe.interval=100ms",
    "target.connect_timeout=5s",
    "workload.work_unit=4",
    "workload.update_pct=40",
    "workload.insert_pct=10",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KillTask {
    Load,
    Run,
    ServerDrive,
    Sweep,
    Soak,
    Prove,
    Drop,
    Import,
}

impl KillTask {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Run => "run",
            Self::ServerDrive => "run inside the server",
            Self::Sweep => "sweep",
            Self::Soak => "soak",
            Self::Prove => "prove updates",
            Self::Drop => "drop",
            Self::Import => "import",
        }
    }

    pub(crate) fn is_quick(self) -> bool {
        self != Self::Soak
    }

    /// Assumed duration until it is measured.
    pub(crate) fn typical_duration(self) -> Duration {
        Duration::from_millis(match self {
            Self::Drop => 200,
            Self::Load | Self::Import => 800,
            Self::Run | Self::ServerDrive | Self::Prove => 2_000,
            Self::Sweep => 4_000,
            Self::Soak => 14_000,
        })
    }

    pub(crate) fn arguments(self, url: &str) -> Vec<String> {
        match self {
            Self::Load => arguments_for(url, &["load"], &[]),
            Self::Run => arguments_for(url, &["run"], &[&RUN[..], &["run.ops_per_session=150"]].concat()),
            Self::ServerDrive => {
                arguments_for(url, &["run"], &[&RUN[..], &["workload.drive=server", "run.time=1s"]].concat())
            }
            Self::Sweep => {
                let sweep = ["run.ops_per_session=100", "sweep.sessions=1,2", "sweep.repeats=2"];
                arguments_for(url, &["sweep"], &[&RUN[..], &sweep].concat())
            }
            // At least 120 intervals: the series is stored during the run.
            Self::Soak => {
                let only = ["workload.update_pct=100", "workload.insert_pct=0"];
                arguments_for(url, &["soak", "--time", "13s"], &[&RUN[..], &only].concat())
            }
            Self::Prove => {
                let time = ["run.time=1s", "workload.insert_pct=0"];
                arguments_for(url, &["prove", "updates", "--json"], &[&RUN[..], &time].concat())
            }
            Self::Drop => arguments_for(url, &["drop", "--yes"], &[]),
            Self::Import => {
                let map = ["import", "results", "runs.csv", "--map", "sessions=sessions", "--map", "ops=ops"];
                words(&[&map[..], &["--set", "run.time=60s"]].concat())
            }
        }
    }

    /// Prepares the test environment for the command.
    pub(crate) fn set_up(self, desk: &TestEnv) {
        if self == Self::Import {
            let lines = (1..=IMPORTED).map(|number| format!("{},{}\n", number % 64 + 1, number * 1_000));
            desk.write("runs.csv", &format!("sessions,ops\n{}", lines.collect::<String>()));
        }
    }
}

pub(crate) fn resume() -> Vec<String> {
    words(&["sweep", "--resume"])
}

/// Checks the data of the target.
pub(crate) fn check_arguments(url: &str) -> Vec<String> {
    arguments_for(url, &["check"], &RUN)
}

fn arguments_for(url: &str, head: &[&str], set: &[&str]) -> Vec<String> {
    let set = DATA.iter().chain(set).flat_map(|key| ["--set", key]);
    words(&head.iter().copied().chain(["--target", url]).chain(set).collect::<Vec<_>>())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
