//! What is killed: each command that works for longer than a blink, small enough to be killed often.

use std::time::Duration;

use crate::common::Desk;

/// Rows of the table, each a block.
pub(crate) const ROWS: i64 = 1_000;

/// Rows that an update touches.
pub(crate) const WORK_UNIT: i64 = 4;

/// Records of the file that is imported.
pub(crate) const IMPORTED: i64 = 300;

/// Runs of the sweep.
pub(crate) const SWEPT: usize = 4;

const DATA: [&str; 2] = ["data.scale=1000 blocks", "data.scan_scale=50 blocks"];

/// Reads and writes of every kind; whatever waits for a server does so for a bounded time.
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

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    Load,
    Run,
    ServerDrive,
    Sweep,
    Soak,
    Prove,
    Drop,
    Import,
}

impl Task {
    /// Its name in the table.
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

    /// Whether it is over soon.
    pub(crate) fn is_quick(self) -> bool {
        self != Self::Soak
    }

    /// How long it takes, until that is known.
    pub(crate) fn guess(self) -> Duration {
        Duration::from_millis(match self {
            Self::Drop => 200,
            Self::Load | Self::Import => 800,
            Self::Run | Self::ServerDrive | Self::Prove => 2_000,
            Self::Sweep => 4_000,
            Self::Soak => 14_000,
        })
    }

    /// What it asks Dyno for.
    pub(crate) fn arguments(self, url: &str) -> Vec<String> {
        match self {
            Self::Load => on(url, &["load"], &[]),
            Self::Run => on(url, &["run"], &[&RUN[..], &["run.ops_per_session=150"]].concat()),
            Self::ServerDrive => {
                on(url, &["run"], &[&RUN[..], &["workload.drive=server", "run.time=1s"]].concat())
            }
            Self::Sweep => {
                let sweep = ["run.ops_per_session=100", "sweep.sessions=1,2", "sweep.repeats=2"];
                on(url, &["sweep"], &[&RUN[..], &sweep].concat())
            }
            // 120 intervals and more: the series is kept while it goes on.
            Self::Soak => {
                let only = ["workload.update_pct=100", "workload.insert_pct=0"];
                on(url, &["soak", "--time", "13s"], &[&RUN[..], &only].concat())
            }
            Self::Prove => {
                let time = ["run.time=1s", "workload.insert_pct=0"];
                on(url, &["prove", "updates", "--json"], &[&RUN[..], &time].concat())
            }
            Self::Drop => on(url, &["drop", "--yes"], &[]),
            Self::Import => {
                let map = ["import", "runs.csv", "--map", "sessions=sessions", "--map", "ops=ops"];
                words(&[&map[..], &["--set", "run.time=60s"]].concat())
            }
        }
    }

    /// What has to be at the desk before.
    pub(crate) fn set_up(self, desk: &Desk) {
        if self == Self::Import {
            let lines = (1..=IMPORTED).map(|number| format!("{},{}\n", number % 64 + 1, number * 1_000));
            desk.write("runs.csv", &format!("sessions,ops\n{}", lines.collect::<String>()));
        }
    }
}

/// Goes on with the sweep that was cut off.
pub(crate) fn resume() -> Vec<String> {
    words(&["sweep", "--resume"])
}

/// Looks at the data.
pub(crate) fn check(url: &str) -> Vec<String> {
    on(url, &["check"], &RUN)
}

fn on(url: &str, head: &[&str], set: &[&str]) -> Vec<String> {
    let set = DATA.iter().chain(set).flat_map(|key| ["--set", key]);
    words(&head.iter().copied().chain(["--target", url]).chain(set).collect::<Vec<_>>())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
