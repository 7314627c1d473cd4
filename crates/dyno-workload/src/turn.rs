//! What becomes of a session's turn: a request, a rest, or the end of its operation.

/// What becomes of a session's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn<T> {
    /// A request was given, and has brought this.
    Asked(T),
    /// Nothing is to be done for so many ns.
    Rests(u64),
    /// There is no more: the operation has ended well.
    Over,
}
