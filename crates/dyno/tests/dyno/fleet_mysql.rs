//! Distributed runs on MySQL and MariaDB, where each connection reports its own share of the counters: the
//! activity of other driver processes is not foreign.

use dyno_testbed::{MySql, Nats};

use crate::common::assert_fits_schema;
use crate::common::json::ExpectJson;
use crate::fleet_site::{DATA, FleetSite, hosts};

#[test]
fn driver_host_sessions_are_not_counted_as_foreign() {
    for version in MySql::available() {
        let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
        let server = MySql::start(&version, &[]);
        let url = server.url();
        let load = site.desk.dyno(&[&["load", "--target", &url][..], &DATA].concat());
        assert_eq!(load.code, 0, "{load:#?}");
        let _agents = [site.agent("a1"), site.agent("a2")];
        let mix = ["--set", "workload.update_pct=30", "--set", "run.time=2s", "--set", "observe.waits=50/s"];
        let mut args = site.args("run", "2", "60s", &mix);
        let at = args.iter().position(|arg| arg == "--target").unwrap() + 1;
        args[at] = url;
        let (code, record) = site.desk.json(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(code, 0, "{version:?} {} {:#}", record["reasons"], record["audit"]);
        assert_fits_schema(&record);
        assert!(hosts(&record).iter().all(|host| host["ops"].count() > 0), "{:#}", record["fleet"]);
        // A figure that only this process's connections could provide is absent, not 0.
        assert!(
            record["counters"]["own"].as_object().is_none_or(serde_json::Map::is_empty),
            "{:#}",
            record["counters"]["own"]
        );
        let status = |name: &str| {
            let checks = record["audit"].items();
            checks.iter().find(|check| check["check"] == name).map(|check| check["status"].text().to_owned())
        };
        assert_eq!(status("commits").as_deref(), Some("pass"), "{version:?} {:#}", record["audit"]);
        assert_eq!(status("others").as_deref(), Some("skipped"), "{version:?} {:#}", record["audit"]);
        assert_eq!(
            status("others_sessions").as_deref(),
            Some("skipped"),
            "{version:?} {:#}",
            record["audit"]
        );
    }
}
