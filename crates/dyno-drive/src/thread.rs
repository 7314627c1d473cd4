//! Settings of the sessions' threads.

/// Stack size of a session's thread. The loop needs little; drivers and TLS need some more.
pub(crate) const STACK_BYTES: usize = 512 * 1024;

/// The hint for a machine that cannot start another thread.
pub(crate) const NO_THREAD: &str = "use fewer sessions, or raise the limit of processes (`ulimit -u`)";

/// Lets the calling thread wake within nanoseconds of its deadline. By default the kernel may be 50 µs late,
/// which would count as response time.
pub(crate) fn set_precise_wakeups() {
    // If the kernel refuses, the delay is measured as it is.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
