//! How often the coordinator checks the run, and how early it announces the window.

use std::time::Duration;

/// How often the coordinator checks the run while it waits.
pub(super) const BEAT: Duration = Duration::from_millis(20);

/// How long before its begin the window is announced to sessions of this process, so that each notices it at
/// once.
pub(crate) const ANNOUNCED_NS: u64 = 1_000_000;
