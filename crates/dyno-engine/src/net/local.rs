//! Finds the server's processes and threads, if they run on this machine.

use std::time::Duration;

use crate::clock::Clock;

/// The longest that a server on this machine takes for an empty request. A slower one is reached through
/// something else, and shares a process number with this machine only by chance.
const NEAR: Duration = Duration::from_millis(10);

/// Most requests that are sent. On a busy machine an answer sometimes waits for a processor; one quick answer
/// is enough.
const TRIES: usize = 5;

/// Whether the server is on this machine, judged by its response times on `clock`. `ask` sends a request that
/// costs the server nothing.
///
/// # Errors
/// Those of `ask`.
pub fn is_near<E>(clock: &dyn Clock, mut ask: impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    for _ in 0..TRIES {
        let asked_ns = clock.now_ns();
        ask()?;
        if u128::from(clock.now_ns() - asked_ns) < NEAR.as_nanos() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The processor on which the process or thread `task` last ran (`proc(5)`: field 39 of `stat`). `None` where
/// this host has no such task whose command line `is_server` accepts.
pub fn last_processor(task: u32, is_server: fn(&[u8]) -> bool) -> Option<usize> {
    let command_line = std::fs::read(format!("/proc/{task}/cmdline")).ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{task}/stat")).ok()?;
    // The name may contain anything, so fields are counted after its last parenthesis; the first of them is
    // field 3.
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields)?;
    is_server(&command_line).then(|| fields.split(' ').nth(36)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MonotonicClock;

    #[test]
    fn peer_is_near_if_any_reply_is_fast() {
        let clock = MonotonicClock::default();
        let slowly = |clock: &MonotonicClock| clock.park_until(clock.now_ns() + 2 * NEAR.as_nanos() as u64);
        let mut ask_count = 0;
        let mut ask = |quick: usize| {
            ask_count = 0;
            is_near(&clock, || -> Result<(), ()> {
                ask_count += 1;
                if ask_count != quick {
                    slowly(&clock);
                }
                Ok(())
            })
        };
        assert_eq!(ask(0), Ok(false));
        assert_eq!(ask(3), Ok(true));
        assert_eq!(is_near(&clock, || Err("gone")), Err("gone"));
    }

    #[test]
    fn last_cpu_of_thread_is_known_if_its_program_matches() {
        let thread = std::fs::read_link("/proc/thread-self").unwrap();
        let thread_id = thread.file_name().unwrap().to_str().unwrap().parse().unwrap();
        assert!(last_processor(thread_id, |line| !line.is_empty()).is_some());
        assert_eq!(last_processor(thread_id, |_| false), None);
        assert_eq!(last_processor(u32::MAX, |_| true), None);
    }
}
