//! What threads of sessions are given.

/// Stack of a session's thread. The loop needs little; drivers and TLS some more.
pub(crate) const STACK_BYTES: usize = 512 * 1024;

/// The way out where the machine gives no thread.
pub(crate) const NO_THREAD: &str = "fewer sessions, or a higher limit of processes (`ulimit -u`)";
