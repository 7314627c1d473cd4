//! The axis `sessions` of a sweep.

/// The axis of sessions over all schemas, which is not a key of a plan.
pub const SESSIONS: &str = "sessions";

/// Whether `key` is the axis of sessions.
pub(crate) fn is_sessions(key: &str) -> bool {
    key == SESSIONS || key == "run.sessions_per_schema"
}
