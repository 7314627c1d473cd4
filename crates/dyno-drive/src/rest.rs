//! How a session goes on whose operations fail one after the other: it rests, longer each time, and where nothing else ends the
//! run, it gives up.

/// Failures in a row before a session rests: the victim of a deadlock or two tries again at once, as an application does.
const AT_ONCE: u32 = 4;
/// The first rest and the longest, ns; each is twice the one before.
const REST_NS: (u64, u64) = (1_000_000, 250_000_000);
/// Failures in a row, and the time that they take at least, after which a session does not hope any more.
const HOPELESS: u32 = 50;
const HOPELESS_NS: u64 = 10_000_000_000;

/// Failures in a row of one session.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    failures: u32,
    since_ns: u64,
    until_ns: Option<u64>,
}

impl Rest {
    /// An operation has failed at `now_ns`.
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

    /// Whether it may rest.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.until_ns.is_some()
    }

    /// An operation has ended well.
    #[inline]
    pub(crate) fn ended_well(&mut self) {
        if self.failures > 0 {
            *self = Self::default();
        }
    }

    /// Until when the session rests, if it still does at `now_ns`.
    #[inline]
    pub(crate) fn until(&mut self, now_ns: impl Fn() -> u64) -> Option<u64> {
        let until_ns = self.until_ns?;
        if now_ns() >= until_ns {
            self.until_ns = None;
        }
        self.until_ns
    }

    /// Why there is no hope any more at `now_ns`, if that is so.
    pub(crate) fn hopeless(&self, now_ns: u64) -> Option<String> {
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
    fn rests_grow_from_the_fifth_failure_on_and_end_with_success() {
        let mut rest = Rest::default();
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
        rest.ended_well();
        assert_eq!(rest.until(|| now_ns), None);
        rest.failed(now_ns);
        assert_eq!(rest.until(|| now_ns), None, "it begins anew");
    }

    #[test]
    fn many_failures_in_a_long_time_are_hopeless() {
        let (mut rest, mut now_ns) = (Rest::default(), 5);
        let mut failures = 0;
        while rest.hopeless(now_ns).is_none() {
            rest.failed(now_ns);
            failures += 1;
            now_ns = rest.until(|| now_ns).unwrap_or(now_ns);
        }
        assert!(failures >= HOPELESS && now_ns - 5 >= HOPELESS_NS, "{failures} failures in {now_ns} ns");
        rest.ended_well();
        assert_eq!(rest.hopeless(now_ns), None);
    }
}
