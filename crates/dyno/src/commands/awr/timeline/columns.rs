//! The figures in the tables of a timeline.

/// Indices in [`dyno_awr::timeline::MEASURES`] of the figures in tables.
pub(super) const ACTIVE: usize = 0;
pub(super) const CPU: usize = 1;
pub(super) const UNACCOUNTED: usize = 2;
pub(super) const READS: usize = 4;
pub(super) const WRITES: usize = 5;
pub(super) const READ_MS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_awr::timeline::MEASURES;

    #[test]
    fn timeline_columns_match_their_headings() {
        let columns = [ACTIVE, CPU, UNACCOUNTED, READS, WRITES, READ_MS].map(|at| MEASURES[at].column);
        assert_eq!(columns, ["aas", "cpu_busy_pct", "unaccounted_pct", "read_iops", "write_iops", "read_ms"]);
    }
}
