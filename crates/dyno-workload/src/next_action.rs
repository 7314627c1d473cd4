//! The next action of a session within an operation: a request, a sleep, or the end of the operation.

/// The next action of a session within an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionTurn<T> {
    /// A request was sent and has this result.
    Asked(T),
    /// The session sleeps for this many ns.
    Rests(u64),
    /// The operation ended successfully and has no further request.
    Over,
}
