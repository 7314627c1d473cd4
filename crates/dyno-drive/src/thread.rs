//! What threads of sessions are given.

/// Stack of a session's thread. The loop needs little; drivers and TLS some more.
pub(crate) const STACK_BYTES: usize = 512 * 1024;

/// The way out where the machine gives no thread.
pub(crate) const NO_THREAD: &str = "fewer sessions, or a higher limit of processes (`ulimit -u`)";

/// Lets the calling thread wake within nanoseconds of the moment it asks for: by default the kernel may be 50 µs late, which
/// would be counted as response time.
pub(crate) fn wake_sharply() {
    // Where it is refused, lateness is measured as what it is.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
