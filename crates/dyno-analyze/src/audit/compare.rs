//! Two counts of the same thing, and how far apart they may be.

use dyno_record::CheckStatus;

use super::facts::Interval;

/// How much fewer or more the database may count than the client.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tolerance {
    /// Fewer, without a word.
    pub(super) fewer: u64,
    /// More, without a word.
    pub(super) more: u64,
    /// Fewer than this beyond `fewer` is a reservation, more is a disagreement.
    pub(super) fewer_warn: u64,
    /// More than this beyond `more` is a disagreement.
    pub(super) more_warn: u64,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    /// Database minus client.
    pub(super) by: i128,
    /// What it comes to.
    pub(super) status: CheckStatus,
}

/// Share of a count that the window may miss and still only be worth a warning: above it the rates of the database's
/// counters would be off by more than repeated runs differ.
pub(super) const WINDOW_SLIP: f64 = 0.01;

/// Share by which others may add to a count before its figures are not this run's any more: repeated runs of an untuned
/// platform differ by about as much.
pub(super) const FOREIGN_SHARE: f64 = 0.05;

/// `share` of `count`, rounded up, so that a share of a few is at least one.
pub(super) fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share.clamp(0.0, 1.0)).ceil() as u64
}

impl Tolerance {
    /// What an interval's own uncertainty allows for counts of `client`, when each failed operation may have done up to
    /// `per_error` of what is counted.
    pub(super) fn of(interval: &Interval<'_>, client: u64, per_error: u64) -> Self {
        let failed = interval.errors.saturating_mul(per_error);
        let blur = share_of(client, interval.blur);
        let either = failed.saturating_add(blur);
        let slip = if interval.name == "window" { share_of(client, WINDOW_SLIP) } else { 0 };
        Self { fewer: either, more: either, fewer_warn: slip, more_warn: share_of(client, FOREIGN_SHARE) }
    }

    /// Compares what the client did with what the database counted.
    pub(super) fn compare(&self, client: u64, database: u64) -> Difference {
        let by = i128::from(database) - i128::from(client);
        let (free, warned) = if by < 0 { (self.fewer, self.fewer_warn) } else { (self.more, self.more_warn) };
        let beyond = by.unsigned_abs().saturating_sub(u128::from(free));
        let status = match beyond {
            0 => CheckStatus::Pass,
            beyond if beyond <= u128::from(warned) => CheckStatus::Warn,
            _ => CheckStatus::Fail,
        };
        Difference { by, status }
    }

    /// How much the counts may differ without a word, where they do differ and that is as much as the client did or more: that
    /// they agree proves nothing then.
    pub(super) fn too_wide(&self, client: u64, difference: Difference) -> Option<u64> {
        let free = if difference.by < 0 { self.fewer } else { self.more };
        let agrees = difference.status == CheckStatus::Pass && difference.by != 0;
        (agrees && free >= client).then_some(free)
    }
}
