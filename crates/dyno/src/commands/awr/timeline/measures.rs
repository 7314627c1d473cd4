//! Which measures of a timeline the tables and sentences show: indices in [`dyno_awr::timeline::MEASURES`].

pub(super) const ACTIVE: usize = 0;
pub(super) const CPU: usize = 1;
pub(super) const UNACCOUNTED: usize = 2;
pub(super) const READS: usize = 4;
pub(super) const WRITES: usize = 5;
pub(super) const READ_MS: usize = 8;
