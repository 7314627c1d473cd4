//! Commits that changed nothing, on platforms that count them, that do not, and of which it is unknown.

use dyno_record::{CheckStatus, Counter};

use super::{find, shift_whole, sqlite};

/// The status of `commits_whole` with this many unproven and empty commits, where the database counts `more` than
/// changes were committed.
fn status(rule: Option<bool>, (unproven, empty): (u64, u64), more: i64) -> CheckStatus {
    let record = sqlite(|record| {
        record.targets[0].identity.counting.empty_commits = rule;
        let whole = record.whole.as_mut().unwrap();
        (whole.unproven_commits, whole.empty_commits) = (unproven, empty);
        shift_whole(record, Counter::Commits, more);
    });
    find(&record, "commits_whole").status
}

#[test]
fn empty_commits_must_be_counted_where_the_platform_counts_them() {
    assert_eq!(status(Some(true), (300, 200), 200), CheckStatus::Pass);
    assert_eq!(status(Some(true), (300, 200), 0), CheckStatus::Fail, "200 commits are missing");
    assert_ne!(status(Some(true), (300, 200), 400), CheckStatus::Pass, "200 commits are another session's");
}

#[test]
fn empty_commits_must_be_absent_where_the_platform_does_not_count_them() {
    assert_eq!(status(Some(false), (0, 200), 0), CheckStatus::Pass);
    assert_ne!(status(Some(false), (0, 200), 200), CheckStatus::Pass);
    assert_eq!(status(Some(false), (300, 0), -300), CheckStatus::Pass, "procedures may have changed nothing");
    assert_eq!(status(Some(false), (300, 0), -301), CheckStatus::Fail);
}

#[test]
fn either_count_of_empty_commits_is_accepted_where_the_rule_is_unknown() {
    for more in [0, 200, -300] {
        assert_eq!(status(None, (300, 200), more), CheckStatus::Pass, "{more}");
    }
    assert_ne!(status(None, (300, 200), 201), CheckStatus::Pass);
}
