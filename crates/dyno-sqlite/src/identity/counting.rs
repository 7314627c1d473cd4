//! The rules by which SQLite's work is counted: by this program, in whose process it runs.

use dyno_record::{BlocksPerReadRequest, CountingRules, Transactions};

use super::super::ops::QUIET_NS;

/// The rules of counting, which are equal for all files.
pub(super) fn counting() -> CountingRules {
    CountingRules {
        at_edges: true,
        unseen_s: 0.0,
        unseen_after_end_s: 0.0,
        held_back_s: Some(QUIET_NS as f64 / 1e9),
        // Only commits of changes by these sessions are counted.
        transactions: Transactions::Commits,
        empty_commits: Some(false),
        workers_commit: false,
        commit_settings: ["synchronous", "journal_mode"].map(str::to_owned).to_vec(),
        requests: BlocksPerReadRequest::bring(1.0, "SQLite reads each page with a request of its own"),
        in_process: true,
        ..CountingRules::default()
    }
}
