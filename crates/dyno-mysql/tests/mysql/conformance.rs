//! Runs the conformance tests that every engine must pass.

use super::{on_each_server, target_at};
use dyno_engine::Cancel;
use dyno_plan::{Commit, StatementProtocol};
use dyno_workload::conformance::{self, EVERYWHERE, ON_SERVERS};

#[test]
fn mysql_and_mariadb_pass_engine_conformance() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        let findings = conformance::check(
            target.as_ref(),
            None,
            &[Commit::Wait],
            &[StatementProtocol::Simple],
            &Cancel::default(),
        )
        .unwrap();
        assert_eq!(
            conformance::failed_checks(
                &findings,
                &[&EVERYWHERE[..], &ON_SERVERS, &["values simple", "read-only sessions"]].concat()
            ),
            [""; 0]
        );
    });
}
