//! Slows down a session whose operations keep failing: it pauses, longer each time. If nothing else ends the
//! run, it gives up.

/// Consecutive failures before a session pauses. The victim of a deadlock or two retries at once, as an
/// application would.
const AT_ONCE: u32 = 4;
/// The first and the longest pause, ns; each is twice the previous one.
const REST_NS: (u64, u64) = (1_000_000, 250_000_000);
/// Consecutive failures, and the least time that they take, after which a session gives up.
const HOPELESS: u32 = 50;
const HOPELESS_NS: u64 = 10_000_000_000;

/// The consecutive failures of one session.
#[derive(Debug, Default)]
pub(crate) struct RetryBackoff {
    failures: u32,
    since_ns: u64,
    until_ns: Option<u64>,
}

impl RetryBackoff {
    /// Notes that an operation failed at `now_ns`.
    #[cold]
    pub(crate) fn failed(&mut self, now_ns: u64) {
        if self.failures == 0 {
            self.since_ns = now_ns;
        }
        self.failures = self.failures.saturating_add(1);
        if let Some(doublings) = self.failures.checked_sub(AT_ONCE + 1) {
            let rest_ns = REST_NS.0.checked_shl(doublings.min(32)).unwrap_or(REST_NS.1).min(REST_NS.1);
            self.until_ns = Some(now_ns.saturating_add(rest_ns));
        }
    }

    /// Whether the session has failed often enough to pause.
    #[inline]
    pub(crate) fn is_backing_off(&self) -> bool {
        self.until_ns.is_some()
    }

    /// Notes that an operation ended without an error.
    #[inline]
    pub(crate) fn note_success(&mut self) {
        if self.failures > 0 {
            *self = Self::default();
        }
    }

    /// Until when the session pauses, if it still does at `now_ns`.
    #[inline]
    pub(crate) fn until(&mut self, now_ns: impl Fn() -> u64) -> Option<u64> {
        let until_ns = self.until_ns?;
        if now_ns() >= until_ns {
            self.until_ns = None;
        }
        self.until_ns
    }

    /// Why the session gives up at `now_ns`, if it does.
    pub(crate) fn failure_reason(&self, now_ns: u64) -> Option<String> {
        let for_ns = now_ns.saturating_sub(self.since_ns);
        (self.failures >= HOPELESS && for_ns >= HOPELESS_NS).then(|| {
            format!("{} operations in a row have failed within {:.0} s", self.failures, for_ns as f64 / 1e9)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_from_fifth_failure_and_resets_on_success() {
        let mut rest = RetryBackoff::default();
        let mut now_ns = 1_000;
        let mut rests = Vec::new();
        for _ in 0..16 {
            rest.failed(now_ns);
            let until_ns = rest.until(|| now_ns).unwrap_or(now_ns);
            rests.push((until_ns - now_ns) / 1_000_000);
            assert_eq!(rest.until(|| until_ns), None, "a rest ends");
            now_ns = until_ns;
        }
        assert_eq!(rests, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 250, 250, 250, 250]);
        rest.failed(now_ns);
        rest.note_success();
        assert_eq!(rest.until(|| now_ns), None);
        rest.failed(now_ns);
        assert_eq!(rest.until(|| now_ns), None, "the count starts again");
    }

    #[test]
    fn backoff_gives_up_after_many_failures_over_long_time() {
        let (mut rest, mut now_ns) = (RetryBackoff::default(), 5);
        let mut failures = 0;
        while rest.failure_reason(now_ns).is_none() {
            rest.failed(now_ns);
            failures += 1;
            now_ns = rest.until(|| now_ns).unwrap_or(now_ns);
        }
        assert!(failures >= HOPELESS, "{failures} failures in {now_ns} ns");
        assert!(now_ns - 5 >= HOPELESS_NS, "{failures} failures in {now_ns} ns");
        rest.note_success();
        assert_eq!(rest.failure_reason(now_ns), None);
    }
}
