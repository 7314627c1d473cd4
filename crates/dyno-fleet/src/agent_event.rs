//! What an agent tells of itself to whoever started it.

/// What an agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// It waits for leaders; so many runs are kept.
    Waits(usize),
    /// It answers for its machine, and drives nothing.
    Observes,
    /// Somebody looks at its machine.
    Observed(String),
    /// Somebody has reserved it.
    Reserved(String),
    /// Nobody has it any more.
    Free,
    /// Nothing was heard of its leader.
    Alone(String),
    /// It leads so many of so many sessions of a run.
    Leads(String, usize, u32),
    /// It cannot, and why.
    CannotLead(String, String),
    /// Its leader has what it measured.
    HandedIn(String),
    /// Nobody has what it measured: it is on its disk.
    Keeps(String),
    /// What it measured cannot be kept.
    NotKept(String, String),
    /// It obeys more than it should, and what keeps it open.
    Open(String),
    /// It refuses what it was asked.
    Refused(String),
}

/// Hears what an agent does.
pub(crate) type Tell<'a> = dyn Fn(&AgentEvent) + Sync + 'a;
