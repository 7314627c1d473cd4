//! How SQLite is counted: by this program, which it runs in.

use dyno_record::{CountingRules, Requests, Transactions};

use super::super::ops::QUIET_NS;

/// Any file.
pub(super) fn counting() -> CountingRules {
    CountingRules {
        at_edges: true,
        unseen_s: 0.0,
        unseen_after_end_s: 0.0,
        held_back_s: Some(QUIET_NS as f64 / 1e9),
        // Commits of changes by these sessions alone.
        transactions: Transactions::Commits,
        workers_commit: false,
        commit_settings: ["synchronous", "journal_mode"].map(str::to_owned).to_vec(),
        requests: Requests::bring(1.0, "SQLite reads each page with a request of its own"),
        in_process: true,
        ..CountingRules::default()
    }
}
