//! What every engine must do.

use super::{on_each, target_at};
use dyno_plan::{Commit, Protocol};
use dyno_workload::conformance::{self, EVERYWHERE, ON_SERVERS};

#[test]
fn both_products_do_what_every_engine_must() {
    on_each(|server| {
        let target = target_at(&server.url());
        let findings =
            conformance::check(target.as_ref(), None, &[Commit::Wait], &[Protocol::Simple]).unwrap();
        assert_eq!(
            conformance::amiss(
                &findings,
                &[&EVERYWHERE[..], &ON_SERVERS, &["values simple", "read-only sessions"]].concat()
            ),
            [""; 0]
        );
    });
}
