//! Compares two counts of the same thing within a tolerance.

use dyno_record::CheckStatus;

use super::facts::AuditInterval;

/// How much lower or higher the database's count may be than the client's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tolerance {
    /// How much lower without a warning.
    pub(super) fewer: u64,
    /// How much higher without a warning.
    pub(super) more: u64,
    /// Up to this many beyond `fewer` are a warning; more are a contradiction.
    pub(super) fewer_warn: u64,
    /// Up to this many beyond `more` are a warning; more are a contradiction.
    pub(super) more_warn: u64,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AuditDifference {
    /// The database's count minus the client's.
    pub(super) excess: i128,
    /// The status that follows from the difference.
    pub(super) status: CheckStatus,
}

/// Share of a count that the window may miss with only a warning. Above it, the rates of the
/// database's counters would be off by more than repeated runs differ.
pub(super) const WINDOW_SLIP: f64 = 0.01;

/// Share that background activity may add to a count before its figures no longer describe this
/// run. Repeated runs of an untuned platform differ by about as much.
pub(super) const FOREIGN_SHARE: f64 = 0.05;

/// `share` of `count`, rounded up: a share of a small count is at least one.
pub(super) fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share.clamp(0.0, 1.0)).ceil() as u64
}

impl Tolerance {
    /// The tolerance for a client count of `client` in an interval. Each failed operation may have
    /// done up to `per_error` of what is counted.
    pub(super) fn of(interval: &AuditInterval<'_>, client: u64, per_error: u64) -> Self {
        let failed = interval.errors.saturating_mul(per_error);
        let blur = share_of(client, interval.blur);
        let either = failed.saturating_add(blur);
        let slip = if interval.name == "window" { share_of(client, WINDOW_SLIP) } else { 0 };
        Self { fewer: either, more: either, fewer_warn: slip, more_warn: share_of(client, FOREIGN_SHARE) }
    }

    /// Compares the client's count with the database's.
    pub(super) fn compare(&self, client: u64, database: u64) -> AuditDifference {
        let delta = i128::from(database) - i128::from(client);
        let (free, warned) =
            if delta < 0 { (self.fewer, self.fewer_warn) } else { (self.more, self.more_warn) };
        let beyond = delta.unsigned_abs().saturating_sub(u128::from(free));
        let status = match beyond {
            0 => CheckStatus::Pass,
            beyond if beyond <= u128::from(warned) => CheckStatus::Warn,
            _ => CheckStatus::Fail,
        };
        AuditDifference { excess: delta, status }
    }

    /// The tolerance, where the counts differ within it and it is as large as the client's own
    /// count or larger. Agreement proves nothing then.
    pub(super) fn too_wide(&self, client: u64, difference: AuditDifference) -> Option<u64> {
        let free = if difference.excess < 0 { self.fewer } else { self.more };
        let agrees = difference.status == CheckStatus::Pass && difference.excess != 0;
        (agrees && free >= client).then_some(free)
    }
}
