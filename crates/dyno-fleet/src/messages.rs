//! What leader and agents say to each other.

use dyno_drive::{Interval, Stalls, Standing};
use dyno_engine::target::Stuck;
use dyno_host::ProcessAddress;
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Host, Identity};
use serde::{Deserialize, Serialize};

use crate::folders::Folders;

/// Who leads, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leader {
    /// A number that nobody else has.
    pub(crate) id: String,
    /// `host db1, process 4711, since 2026-11-25T02:30:00Z`.
    pub(crate) words: String,
}

/// A leader asks who is there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    pub(crate) leader: Leader,
}

/// An agent says that it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    /// A number that nobody else has; it is part of the agent's subject.
    pub(crate) id: String,
    pub(crate) name: String,
    /// Its place among the agents, where its placement has given it one.
    pub(crate) place: Option<u32>,
    pub(crate) cpus: u32,
    /// Whoever has reserved it.
    pub(crate) busy: Option<Leader>,
    /// Runs of which it keeps what it measured.
    pub(crate) keeps: u32,
}

/// What is known of a target, which only the leader observes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Known {
    /// What it is.
    pub identity: Identity,
    /// The data that it holds.
    pub spec: DataSpec,
    /// Why its sessions only read, if they do.
    pub reads_only: Option<String>,
}

/// A part of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) run_id: String,
    pub(crate) started_at: String,
    pub(crate) run_stamp: u64,
    pub(crate) plan: Plan,
    pub(crate) targets: Vec<Known>,
    /// Versions of the workloads of the user's own.
    pub(crate) workloads: Vec<String>,
    /// The checksum of their folders, which were sent before; nothing where there are none but those inside the program.
    #[serde(default)]
    pub(crate) folders_sum: Option<String>,
    /// These folders, once the agent has put them there: what it keeps of a run is whole.
    #[serde(default, skip_serializing_if = "Folders::is_empty")]
    pub(crate) folders: Folders,
    /// The weights of all hosts, and which of them this is.
    pub(crate) weights: Vec<u32>,
    pub(crate) rank: u32,
}

/// What an agent is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// What its clock shows; asked all the time, so that it knows that its leader is there.
    Clock(String),
    /// To be there for this leader alone, and to go on for so many milliseconds without hearing of it.
    Reserve { leader: Leader, silence_ms: u64 },
    /// To take a piece of the folders of workloads, whose bytes follow; `sum` is that of all of them.
    Folders { leader: String, number: u32, of: u32, sum: String },
    /// To lead a part of a run of the leader that has reserved it.
    Lead { leader: String, order: Box<Order> },
    /// To do something in the run of that name, of the leader that has reserved it.
    Do { leader: String, run_id: String, step: Step },
    /// To be free for others.
    Release(String),
    /// Which runs it keeps.
    Kept,
    /// A piece of what it keeps of a run.
    Piece { run_id: String, number: u32 },
    /// To keep a run no more: whoever asks has it, and proves that by the checksum of all its bytes.
    Forget { run_id: String, sum: String },
    /// To keep a run no more that the leader which has reserved the agent has stored.
    Stored { leader: String, run_id: String },
}

/// A step of a run. Moments are on the agent's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Sessions connect.
    Connect,
    /// Sessions start then.
    Gate { opens_ns: u64 },
    /// The window begins then, and ends then if that is known.
    Open { origin_ns: u64, ends_ns: Option<u64> },
    /// Its begin is read.
    Enter,
    /// The counters of these targets (one bit each) at an edge are read next.
    Looking { edge: u8, targets: u64 },
    /// Those of one are there.
    Looked { edge: u8, target: u32, answered_ns: u64 },
    /// The window ends then.
    Close { at_ns: u64 },
    /// Sessions end, within so much for operations under way.
    Stop { drain_ms: u64 },
    /// Nobody waits any more.
    Hurry,
}

/// What an agent answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    Clock {
        heard_ns: u64,
        said_ns: u64,
    },
    /// It does as it was asked; so much too late, ns.
    Done {
        late_ns: u64,
    },
    /// It leads the part, on this machine.
    Leads(Box<Host>, ProcessAddress),
    /// It does not, and why.
    Refused(String),
    Kept(Vec<KeptRun>),
    /// Bytes follow the message.
    Piece {
        of: u32,
    },
}

/// A run of which an agent keeps what it measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) run_id: String,
    pub(crate) rank: u32,
    pub(crate) of: u32,
    pub(crate) bytes: u64,
}

/// What an agent reports of its part of a run; the one with the highest number holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) rank: u32,
    pub(crate) number: u64,
    /// Whether it has reached all targets, and found them to be those of the leader.
    pub(crate) reached: bool,
    pub(crate) standing: Standing,
}

/// What an agent hands over and wants acknowledged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Upload {
    /// What its sessions did in intervals, the how manieth such message, from 0.
    Intervals { rank: u32, number: u64, intervals: Vec<Interval> },
    /// A piece of what it hands in, whose bytes follow; `sum` is that of all of them.
    Piece { rank: u32, number: u32, of: u32, sum: String },
}

/// What it gets for that.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Receipt {
    Have,
    /// It is not taken, and why.
    Refused(String),
}

/// What an agent hands in of a run when its sessions have ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HandedIn {
    pub(crate) results: dyno_drive::Results,
    pub(crate) threads: u32,
    /// Numbers of sessions that had to be broken off, and what their servers say.
    pub(crate) broken_off: Vec<u32>,
    pub(crate) stuck: Vec<(String, bool)>,
    /// Whether its sessions ended because nothing was heard of the leader.
    pub(crate) alone: bool,
    pub(crate) closed_ns: Option<u64>,
    /// When they ended by the host's wall clock, RFC 3339 in UTC; absent in what earlier versions kept.
    #[serde(default)]
    pub(crate) ended_at: Option<String>,
    pub(crate) use_of_host: UseOfHost,
}

/// What of the driver host was used in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UseOfHost {
    pub(crate) cpu_busy_pct: Option<f64>,
    pub(crate) client_cpus: Option<f64>,
    pub(crate) send_queue_bytes_max: Option<u64>,
    #[serde(default)]
    pub(crate) throttled_pct: Option<f64>,
    #[serde(default)]
    pub(crate) stalls: Option<Stalls>,
}

impl UseOfHost {
    /// Enters it into the record of the host.
    pub(crate) fn enter(&self, host: &mut dyno_record::FleetHost) {
        host.cpu_busy_pct = self.cpu_busy_pct;
        host.client_cpus = self.client_cpus;
        host.send_queue_bytes_max = self.send_queue_bytes_max;
        host.throttled_pct = self.throttled_pct;
        host.stall_us_max = self.stalls.map(|stalls| stalls.max_ns as f64 / 1e3);
        host.stall_s = self.stalls.map(|stalls| stalls.sum_ns as f64 / 1e9);
        host.suspended_s = self.stalls.map(|stalls| stalls.suspended_ns as f64 / 1e9);
    }
}

impl HandedIn {
    pub(crate) fn stuck(&self) -> Vec<Stuck> {
        self.stuck.iter().map(|(words, full)| Stuck { words: words.clone(), full: *full }).collect()
    }
}
