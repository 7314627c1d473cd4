//! The messages that a controller and its agents exchange.

use dyno_drive::{IntervalCounts, Stalls, WorkerStatus};
use dyno_engine::target::HungSessionReport;
use dyno_host::ProcessAddress;
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Host, Identity};
use serde::{Deserialize, Serialize};

use crate::folders::Folders;

/// A controller, as it introduces itself to agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leader {
    /// Unique id of the controller's process.
    pub(crate) id: String,
    /// A description for people: `host db1, process 4711, since 2026-11-25T02:30:00Z`.
    pub(crate) words: String,
}

/// A controller asks which agents are there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentCall {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    pub(crate) leader: Leader,
}

/// An agent's answer to a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentHello {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    /// Unique id of the agent, which is part of its subject.
    pub(crate) id: String,
    pub(crate) name: String,
    /// The agent's position among the agents; absent if its placement assigns none.
    pub(crate) place: Option<u32>,
    pub(crate) cpus: u32,
    /// The controller that has reserved the agent; absent while it is free.
    pub(crate) busy: Option<Leader>,
    /// Number of runs whose results the agent keeps.
    pub(crate) keeps: u32,
}

/// A target as the controller found it; only the controller observes targets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FleetTarget {
    /// The product, version and counters of the target.
    pub identity: Identity,
    /// The data that the target holds.
    pub spec: DataSpec,
    /// Why sessions only read on this target; absent if they may write.
    pub reads_only: Option<String>,
}

/// The order to run a part of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentOrder {
    pub(crate) run_id: String,
    pub(crate) started_at: String,
    pub(crate) run_stamp: u64,
    pub(crate) plan: Plan,
    pub(crate) targets: Vec<FleetTarget>,
    /// Versions of the custom workloads.
    pub(crate) workloads: Vec<String>,
    /// Checksum of the workload folders, which the controller sends before the order; absent if only built-in
    /// workloads are used.
    #[serde(default)]
    pub(crate) folders_sum: Option<String>,
    /// The folders themselves. The agent adds them, so that a kept run is complete.
    #[serde(default, skip_serializing_if = "Folders::is_empty")]
    pub(crate) folders: Folders,
    /// The weights of all hosts; `rank` is this host's position among them.
    pub(crate) weights: Vec<u32>,
    pub(crate) rank: u32,
}

/// A request to an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum AgentRequest {
    /// Asks for the agent's clock. Repeated all the time, so the agent also knows that its controller is
    /// there.
    Clock(String),
    /// Reserves the agent for this controller; the agent tolerates `silence_ms` milliseconds without a
    /// message from it.
    Reserve { leader: Leader, silence_ms: u64 },
    /// Sends a piece of the workload folders, whose bytes follow; `sum` is the checksum of all pieces
    /// together.
    Folders { leader: String, number: u32, of: u32, sum: String },
    /// Starts a part of a run of the controller that has reserved the agent.
    Lead { leader: String, order: Box<AgentOrder> },
    /// Asks for a step in this run of the controller that has reserved the agent.
    Do { leader: String, run_id: String, step: AgentStep },
    /// Releases the agent, so that other controllers can reserve it.
    Release(String),
    /// Asks which runs the agent keeps.
    Kept,
    /// Asks for a piece of a kept run.
    Piece { run_id: String, number: u32 },
    /// Deletes a kept run. The checksum of all its bytes proves that the sender has it.
    Forget { run_id: String, sum: String },
    /// Deletes a kept run whose record the controller that reserved the agent has stored.
    Stored { leader: String, run_id: String },
}

/// A step of a run. Moments are on the agent's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AgentStep {
    /// The sessions connect to their targets.
    Connect,
    /// The gate opens at this moment, and sessions start.
    Gate { opens_ns: u64 },
    /// The window begins at `origin_ns`, and ends at `ends_ns` if that is known.
    Open { origin_ns: u64, ends_ns: Option<u64> },
    /// The snapshot at the window's begin is complete.
    Enter,
    /// The counters of these targets (one bit each) are read next at a window boundary.
    Looking { edge: u8, targets: u64 },
    /// The counters of one target were read, at the latest at `answered_ns`.
    Looked { edge: u8, target: u32, answered_ns: u64 },
    /// The window ends at this moment.
    Close { at_ns: u64 },
    /// Sessions end; operations in progress may take this many milliseconds.
    Stop { drain_ms: u64 },
    /// Nobody waits for operations in progress any more.
    Hurry,
}

/// The answer of an agent to a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum AgentReply {
    Clock {
        heard_ns: u64,
        said_ns: u64,
    },
    /// The agent did what was asked; a step came this many nanoseconds late.
    Done {
        late_ns: u64,
    },
    /// The agent runs the part, on this machine and in this process.
    Leads(Box<Host>, ProcessAddress),
    /// The agent refuses, for this reason.
    Refused(String),
    Kept(Vec<KeptRun>),
    /// A piece of a kept run, whose bytes follow the message.
    Piece {
        of: u32,
    },
}

/// A run whose results an agent keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) run_id: String,
    pub(crate) rank: u32,
    pub(crate) of: u32,
    pub(crate) bytes: u64,
}

/// An agent's status report of its part of a run; the report with the highest number counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentReport {
    pub(crate) rank: u32,
    pub(crate) number: u64,
    /// Whether the agent has reached all targets and found them identical to the controller's.
    pub(crate) reached: bool,
    pub(crate) standing: WorkerStatus,
}

/// Data that an agent sends until it is acknowledged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Upload {
    /// The sessions' intervals; `number` counts these messages from 0.
    Intervals { rank: u32, number: u64, intervals: Vec<IntervalCounts> },
    /// A piece of the results, whose bytes follow; `sum` is the checksum of all pieces together.
    Piece { rank: u32, number: u32, of: u32, sum: String },
}

/// The acknowledgement of an upload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Receipt {
    Have,
    /// The controller refuses the upload, for this reason.
    Refused(String),
}

/// The results that an agent hands in after its sessions have ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AgentResults {
    pub(crate) results: dyno_drive::Results,
    pub(crate) threads: u32,
    /// Numbers of the sessions that did not end in time, and what their servers report about them.
    pub(crate) broken_off: Vec<u32>,
    pub(crate) stuck: Vec<(String, bool)>,
    /// Whether the sessions ended because the controller was lost.
    pub(crate) alone: bool,
    pub(crate) closed_ns: Option<u64>,
    /// When the sessions ended by the host's wall clock, RFC 3339 in UTC; absent in results that earlier
    /// versions kept.
    #[serde(default)]
    pub(crate) ended_at: Option<String>,
    pub(crate) use_of_host: HostUsage,
}

/// What the run used of the driver host in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostUsage {
    pub(crate) cpu_busy_pct: Option<f64>,
    pub(crate) client_cpus: Option<f64>,
    pub(crate) send_queue_bytes_max: Option<u64>,
    #[serde(default)]
    pub(crate) throttled_pct: Option<f64>,
    #[serde(default)]
    pub(crate) stalls: Option<Stalls>,
}

impl HostUsage {
    /// Copies the values into the host's entry in the record.
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

impl AgentResults {
    pub(crate) fn stuck(&self) -> Vec<HungSessionReport> {
        self.stuck
            .iter()
            .map(|(words, full)| HungSessionReport { words: words.clone(), full: *full })
            .collect()
    }
}
