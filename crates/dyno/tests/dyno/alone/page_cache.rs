//! The page cache of this machine, which all processes share.

use dyno_testbed::Postgres;
use serde_json::Value;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;

#[test]
fn page_cache_is_dropped_before_storage_tests_only() {
    let Some(version) = Postgres::available().pop() else { return };
    let (desk, server) = (TestEnv::new(), Postgres::start(&version, &[]));
    let refused = desk.dyno(&["suite", "--drop-caches", "--database-only", "--target", &server.url()]);
    assert!(refused.code == 2, "{refused:#?}");
    assert!(refused.err.contains("runs on another host"), "{refused:#?}");
    if let Err(why) = std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches") {
        return dyno_testbed::skip_unsupported("the page cache dropped", &why.to_string());
    }
    let set = ["run.warmup=500ms", "run.time=1s", "data.scale=2M"].map(|set| ["--set", set]);
    let tests = ["storage-random-read", "server-lookup"].map(|id| ["--test", id]);
    let url = server.url();
    let suite = ["suite", "--quick", "--drop-caches", "--target", &url];
    let (code, suite_result) = desk.json(&[&suite, &*set.concat(), &*tests.concat()].concat());
    assert_eq!(code, 0, "{suite_result:#}");
    let (_, runs) = desk.json(&["list", "--sweep", "last"]);
    let dropped = |run: &Value| {
        let (_, record) = desk.json(&["show", run["id"].text()]);
        let is_of_storage = record["plan"]["workload"]["folder"].is_null();
        (is_of_storage, record["plan"]["run"]["drop_page_cache"] == true)
    };
    let dropped: Vec<(bool, bool)> = runs.items().iter().map(dropped).collect();
    assert!(dropped.len() == 4, "{dropped:?}");
    assert!(dropped.iter().all(|(storage, dropped)| storage == dropped), "{dropped:?}");
    assert!(dropped.contains(&(true, true)), "{dropped:?}");
    assert!(dropped.contains(&(false, false)), "{dropped:?}");
}
