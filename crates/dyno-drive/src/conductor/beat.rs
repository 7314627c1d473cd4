//! How often the coordinator looks up, and how early it announces.

use std::time::Duration;

/// How often the coordinator looks up while it waits.
pub(super) const BEAT: Duration = Duration::from_millis(20);

/// How long before the window's begin it is announced to sessions of this process, so that each notices it at once.
pub(crate) const ANNOUNCED_NS: u64 = 1_000_000;
