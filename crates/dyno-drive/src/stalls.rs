//! Measures stalls of a driving process: how long, and for how much of the window, none of it ran.
//!
//! The coordinating thread checks the clock every few milliseconds; a late check is a stall. The stall only
//! counts in the sum if the process used no processor meanwhile. Otherwise sessions' threads ran, and only
//! the checking thread waited for its turn. Time that this thread did not wait for a processor is time in
//! which the process was suspended.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A shorter delay is no stall, ns: it is the normal cost of a scheduler's queue.
const FREE_NS: u64 = 10_000_000;
/// Largest share of a stall in which the process may have used a processor: work just before and just after
/// it.
const USED_SHARE_MAX: f64 = 0.2;

/// Stalls of a driving process in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// The longest delay of a check, ns.
    pub max_ns: u64,
    /// The sum of the delays in which the process did not run, ns.
    pub sum_ns: u64,
    /// The part of that sum in which the process was suspended, ns; 0 if the kernel does not report waiting
    /// times of threads.
    pub suspended_ns: u64,
}

/// The state at a check.
#[derive(Debug, Clone, Copy)]
struct StallCheck {
    at_ns: u64,
    /// Processor time that the process has used, ns.
    cpu_ns: u64,
    /// Time that the thread has waited for a processor, ns; absent if the kernel does not report it.
    queued_ns: Option<u64>,
}

/// Measures stalls between its begin and its end.
#[derive(Debug, Default)]
pub(crate) struct StallMeter {
    last: Option<StallCheck>,
    stalls: Stalls,
}

impl StallMeter {
    /// Starts measuring at `now_ns`.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.last = Some(StallCheck { at_ns: now_ns, cpu_ns: process_cpu_ns(), queued_ns: queued_ns() });
    }

    pub(crate) fn is_measuring(&self) -> bool {
        self.last.is_some()
    }

    /// Records a check at `now_ns`; a check is due every `pause_ns`.
    pub(crate) fn look(&mut self, now_ns: u64, pause_ns: u64) {
        self.note(StallCheck { at_ns: now_ns, cpu_ns: process_cpu_ns(), queued_ns: queued_ns() }, pause_ns);
    }

    fn note(&mut self, look: StallCheck, pause_ns: u64) {
        let Some(last) = self.last else { return };
        self.last = Some(look);
        let delay_ns = look.at_ns.saturating_sub(last.at_ns).saturating_sub(pause_ns);
        self.stalls.max_ns = self.stalls.max_ns.max(delay_ns);
        let used_ns = look.cpu_ns.saturating_sub(last.cpu_ns).saturating_sub(pause_ns);
        if delay_ns > FREE_NS && (used_ns as f64) < delay_ns as f64 * USED_SHARE_MAX {
            self.stalls.sum_ns += delay_ns;
            if let (Some(before_ns), Some(now_ns)) = (last.queued_ns, look.queued_ns) {
                self.stalls.suspended_ns += delay_ns.saturating_sub(now_ns.saturating_sub(before_ns));
            }
        }
    }

    /// Records a delay that was measured by other means.
    pub(crate) fn delayed(&mut self, delay_ns: u64) {
        self.stalls.max_ns = self.stalls.max_ns.max(delay_ns);
    }

    pub(crate) fn end(&mut self) {
        self.last = None;
    }

    pub(crate) fn stalls(&self) -> Stalls {
        self.stalls
    }
}

/// Time that this thread has waited for a processor, ns: the second figure of `schedstat`
/// (Documentation/scheduler/sched-stats).
fn queued_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Processor time of this process, ns.
fn process_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn look(at: u64, cpu: u64, queued: u64) -> StallCheck {
        StallCheck { at_ns: at * MS, cpu_ns: cpu * MS, queued_ns: Some(queued * MS) }
    }

    /// Stalls from checks at these times, ms, with the processor time used by then, ms, and `queued` ms of
    /// waiting in each.
    fn measured(looks: &[(u64, u64)], queued: u64) -> Stalls {
        let mut meter = StallMeter { last: Some(look(0, 0, 0)), ..StallMeter::default() };
        for (number, (now, cpu)) in (1..).zip(looks) {
            meter.note(look(*now, *cpu, number * queued), 20 * MS);
        }
        meter.stalls()
    }

    #[test]
    fn repeated_short_stalls_add_up() {
        let looks: Vec<(u64, u64)> = (1..=10).map(|at| (at * 400, at * 40)).collect();
        let all = Stalls { max_ns: 380 * MS, sum_ns: 3_800 * MS, suspended_ns: 3_800 * MS };
        assert_eq!(measured(&looks, 0), all);
        let in_time: Vec<(u64, u64)> = (1..=10).map(|at| (at * 25, at)).collect();
        assert_eq!(measured(&in_time, 0), Stalls { max_ns: 5 * MS, ..Stalls::default() });
    }

    #[test]
    fn thread_waiting_for_a_processor_is_not_suspended() {
        let starved = measured(&[(400, 0), (800, 0)], 370);
        assert_eq!(starved, Stalls { max_ns: 380 * MS, sum_ns: 760 * MS, suspended_ns: 20 * MS });
    }

    #[test]
    fn delays_while_sessions_ran_are_not_summed_as_stalls() {
        assert_eq!(measured(&[(400, 350)], 0), Stalls { max_ns: 380 * MS, ..Stalls::default() });
    }

    #[test]
    fn stalls_outside_the_window_are_not_measured() {
        let mut meter = StallMeter::default();
        meter.note(look(5_000, 0, 0), 0);
        meter.begin(5_000 * MS);
        meter.end();
        meter.note(look(9_000, 0, 0), 0);
        assert!(!meter.is_measuring());
        assert_eq!(meter.stalls(), Stalls::default());
    }
}
