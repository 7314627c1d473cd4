//! The events that an agent reports to the program that started it.

/// An event that an agent reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// The agent waits for controllers; it keeps results of this many runs.
    Waits(usize),
    /// The agent answers for its machine only and drives no load.
    Observes,
    /// This controller reads counters of the agent's machine.
    Observed(String),
    /// This controller has reserved the agent.
    Reserved(String),
    /// No controller has the agent reserved any more.
    Free,
    /// The agent lost contact with this controller.
    Alone(String),
    /// The agent runs part of a run: the run's name, the agent's sessions, and all sessions.
    Leads(String, usize, u32),
    /// The agent cannot run its part of this run, for this reason.
    CannotLead(String, String),
    /// The controller has received the agent's results of this run.
    HandedIn(String),
    /// The controller did not fetch the results of this run; they stay on the agent's disk.
    Keeps(String),
    /// The results of this run cannot be stored on disk, for this reason.
    NotKept(String, String),
    /// The agent accepts more requests than it should, for this reason.
    Open(String),
    /// The agent refuses a request, for this reason.
    Refused(String),
}

/// Callback that receives an agent's events.
pub(crate) type AgentEventSink<'a> = dyn Fn(&AgentEvent) + Sync + 'a;
