//! The axis of sessions.

/// The axis of sessions over all schemas, which is no key of its own.
pub const SESSIONS: &str = "sessions";

/// Whether an axis of this key is one of sessions.
pub(crate) fn is_sessions(key: &str) -> bool {
    key == SESSIONS || key == "run.sessions_per_schema"
}
