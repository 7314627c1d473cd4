//! Attribution: what a figure was counted over, and which part of it is background activity.
//!
//! A rate of operations is the run's own. A database counter includes every session of the database. Redo and
//! writes belong to the whole server, processors and devices to the host. Each figure of a record gets this
//! attribution. A figure is marked if it includes background activity, or if that cannot be excluded. The
//! audit's own shares say how much.

use std::collections::BTreeMap;

use dyno_record::{Attribution, AttributionScope, Counter, Metric, RunRecord};

use super::AuditForeignActivity;
use crate::number::{figure, percent};

/// The counters that a figure is made of.
const FIGURES: [(&str, &[Counter]); 23] = [
    ("logical_reads_per_s", &[Counter::LogicalReads]),
    ("physical_reads_per_s", &[Counter::PhysicalReads]),
    ("physical_read_requests_per_s", &[Counter::PhysicalReadRequests]),
    ("physical_read_mb_per_s", &[Counter::PhysicalReadBytes]),
    ("physical_read_latency_us", &[Counter::PhysicalReadTime, Counter::PhysicalReadRequests]),
    ("physical_writes_per_s", &[Counter::PhysicalWrites]),
    ("physical_write_requests_per_s", &[Counter::PhysicalWriteRequests]),
    ("physical_write_mb_per_s", &[Counter::PhysicalWriteBytes]),
    ("physical_write_latency_us", &[Counter::PhysicalWriteTime, Counter::PhysicalWriteRequests]),
    ("redo_bytes_per_s", &[Counter::RedoBytes]),
    ("redo_mb_per_s", &[Counter::RedoBytes]),
    ("redo_writes_per_s", &[Counter::RedoWrites]),
    ("redo_syncs_per_s", &[Counter::RedoSyncs]),
    ("redo_sync_latency_us", &[Counter::RedoSyncTime, Counter::RedoSyncs]),
    ("commits_per_s", &[Counter::Commits]),
    ("rollbacks_per_s", &[Counter::Rollbacks]),
    ("executions_per_s", &[Counter::Executions]),
    ("rows_read_per_s", &[Counter::RowsRead]),
    ("rows_written_per_s", &[Counter::RowsWritten]),
    ("database_active_sessions", &[Counter::DbTime]),
    ("database_cpus", &[Counter::CpuTime]),
    ("buffer_hit_pct", &[Counter::LogicalReads, Counter::PhysicalReads]),
    ("full_page_writes_per_s", &[Counter::RedoBytes]),
];

/// Name prefixes of the host's figures. The client's own processor time and the figures with
/// separated shares have other names.
const OF_HOST: [&str; 3] = ["cpu_", "device_", "context_switches"];

/// Name prefixes of the run's own figures of speed.
const SPEED: [&str; 4] = ["ops_per_s", "rows_per_s", "service_", "response_"];

/// The attribution of each figure of `record`, by name; `company` is the background activity that the audit
/// found.
pub(super) fn attributions(
    record: &RunRecord,
    company: &AuditForeignActivity,
) -> BTreeMap<String, Attribution> {
    let present_metrics = record.metrics.iter().filter(|(_, metric)| matches!(metric, Metric::Value { .. }));
    present_metrics.map(|(name, _)| (name.clone(), figure_attribution(record, company, name))).collect()
}

fn figure_attribution(record: &RunRecord, company: &AuditForeignActivity, name: &str) -> Attribution {
    let entry = FIGURES.iter().find(|(figure, _)| *figure == name);
    match entry {
        Some((_, counters)) => {
            let scope = counters.iter().map(|&counter| scope(record, company, counter)).max();
            counter_attribution(company, counters, scope.unwrap_or(AttributionScope::Database))
        }
        None if OF_HOST.iter().any(|begin| name.starts_with(begin)) => {
            host_attribution(record, company, name)
        }
        None => run_attribution(company, name),
    }
}

/// The run's own figures count its work alone. Those of speed are marked where others used what the
/// platform needs for it.
fn run_attribution(company: &AuditForeignActivity, name: &str) -> Attribution {
    let is_speed = SPEED.iter().any(|begin| name.starts_with(begin));
    let disturbed = company.disturbance.as_ref().filter(|_| is_speed);
    Attribution {
        scope: AttributionScope::Run,
        others_pct: None,
        marked: disturbed.is_some(),
        why: disturbed.cloned().unwrap_or_default(),
    }
}

/// What a counter is counted over.
fn scope(record: &RunRecord, company: &AuditForeignActivity, counter: Counter) -> AttributionScope {
    let for_server =
        |target: &dyno_record::TargetFacts| target.identity.counting.for_server.contains(&counter);
    if company.of_test_tables.contains(&counter) {
        AttributionScope::Run
    } else if record.targets.iter().any(for_server) {
        AttributionScope::Server
    } else {
        AttributionScope::Database
    }
}

fn counter_attribution(
    company: &AuditForeignActivity,
    counters: &[Counter],
    scope: AttributionScope,
) -> Attribution {
    let shares = counters.iter().filter_map(|&counter| company.share_pct(counter));
    let largest_share_pct = shares.reduce(f64::max);
    let (others_pct, why) = match (largest_share_pct, scope) {
        (Some(pct), _) => (
            Some(pct),
            "counted beyond what the run's own tables, sessions and transactions account for".to_owned(),
        ),
        (None, AttributionScope::Server) => (company.server_pct, company.server_from.clone()),
        (None, _) => (None, String::new()),
    };
    let loads = counters.iter().filter_map(|&counter| company.load_pct(counter));
    let load_pct = if largest_share_pct.is_some() { loads.reduce(f64::max) } else { others_pct };
    if let Some(pct) = load_pct.filter(|pct| *pct > company.mark_pct) {
        let pct = percent(pct);
        return Attribution {
            scope,
            others_pct,
            marked: true,
            why: format!("other sessions caused {pct} % of it: {why}"),
        };
    }
    if let (AttributionScope::Database | AttributionScope::Server, None, Some(why)) =
        (scope, others_pct, &company.database_activity)
    {
        return Attribution { scope, others_pct, marked: true, why: why.clone() };
    }
    let of_observer = company.observer_pct.iter().filter(|(counter, _)| counters.contains(counter));
    if let Some(pct) = of_observer.map(|(_, pct)| *pct).filter(|pct| *pct > company.mark_pct).reduce(f64::max)
    {
        let pct = percent(pct);
        let why = format!(
            "up to {pct} % of it may be reads of Dyno's own observer: the database does not count these \
             separately"
        );
        return Attribution { scope, others_pct, marked: true, why };
    }
    match (scope, others_pct, company.active) {
        (AttributionScope::Server, ..) if company.shares_own_server => {
            let why = "another target of this run is on the same server".to_owned();
            Attribution { scope, others_pct: None, marked: true, why }
        }
        (AttributionScope::Server, _, Some(active)) if company.is_at_work(active) => Attribution {
            scope,
            others_pct,
            marked: true,
            why: format!("{} other sessions were active on the server on average", figure(active)),
        },
        (AttributionScope::Server, None, None) => {
            let why = "it is the whole server's, and activity of other sessions is unknown".to_owned();
            Attribution { scope, others_pct, marked: true, why }
        }
        // There was no background activity, or it is counted separately.
        _ => Attribution { scope, others_pct, marked: false, why },
    }
}

/// Figures of the host: they include the server's other work, and that of other programs where it
/// is known.
fn host_attribution(record: &RunRecord, company: &AuditForeignActivity, name: &str) -> Attribution {
    let scope = AttributionScope::Host;
    let value = |name: &str| record.metrics.get(name).and_then(Metric::value);
    // The use of the processors by program is known for the driver host only.
    let of_processors = !name.starts_with("device_") && !record.is_observed_elsewhere();
    if let (true, Some(others), Some(busy)) = (of_processors, value("others_cpu_pct"), value("cpu_busy_pct"))
        && busy > 0.0
    {
        let pct = (100.0 * others / busy).clamp(0.0, 100.0);
        if others > company.host_mark_pct {
            let why = format!("other programs used {} % of the processors", percent(others));
            return Attribution { scope, others_pct: Some(pct), marked: true, why };
        }
    }
    if name.starts_with("device_")
        && let Some(excess) = company.device.filter(|excess| excess.has_writes())
    {
        let why = format!(
            "{} writes/s and {} MB/s of the device's writes are not explained by the database's own",
            figure(excess.writes_per_s),
            figure(excess.write_mb_per_s)
        );
        let others_pct = name.starts_with("device_write").then_some(excess.writes_pct);
        return Attribution { scope, others_pct, marked: true, why };
    }
    let at_work = company.active.filter(|&active| company.is_at_work(active));
    let why = match (at_work, company.server_pct.filter(|&pct| pct > company.mark_pct)) {
        _ if company.shares_own_server => "another target of this run is on the same server".to_owned(),
        (Some(active), _) => {
            format!("{} other sessions were active on the server on average", figure(active))
        }
        (None, Some(pct)) => format!("other sessions caused {} % of the server's work", percent(pct)),
        (None, None) => return Attribution { scope, others_pct: None, marked: false, why: String::new() },
    };
    Attribution { scope, others_pct: None, marked: true, why }
}

#[cfg(test)]
mod tests {
    use dyno_record::{OtherSessions, Status, Waits};

    use super::*;
    use crate::{audit, fixture};

    fn judged(spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
        let mut record = fixture::postgres();
        spoil(&mut record);
        audit::judge(&mut record);
        record
    }

    #[test]
    fn each_value_has_its_attribution_scope() {
        let record = judged(|_| {});
        let scope = |name: &str| record.whose[name].scope;
        assert_eq!(scope("ops_per_s"), AttributionScope::Run);
        assert_eq!(scope("logical_reads_per_s"), AttributionScope::Database);
        assert_eq!(scope("redo_mb_per_s"), AttributionScope::Server);
        assert_eq!(scope("cpu_busy_pct"), AttributionScope::Host);
        let marked: Vec<_> = record.whose.iter().filter(|(_, whose)| whose.marked).collect();
        assert!(marked.is_empty(), "{marked:#?}");
        assert!(!record.whose.contains_key("physical_read_requests_per_s"), "it has no value");
    }

    #[test]
    fn reads_are_marked_when_observer_share_is_unknown() {
        let beside_few = |is_reported: bool| {
            judged(move |record| {
                record.counters.observer.clear();
                record.counters.native.insert("dyno.system.blks_fetched".into(), 12_000.0);
                if is_reported {
                    record.counters.observer.insert(Counter::LogicalReads, 12_000);
                    record.counters.observer.insert(Counter::PhysicalReads, 0);
                }
            })
        };
        let unknown = &beside_few(false).whose["logical_reads_per_s"];
        assert!(unknown.marked, "{unknown:?}");
        assert!(unknown.why.contains("Dyno's own observer"), "{unknown:?}");
        let reported = &beside_few(true).whose["logical_reads_per_s"];
        assert!(!reported.why.contains("observer"), "{reported:?}");
    }

    #[test]
    fn background_share_of_figures_is_marked() {
        let record = judged(|record| {
            let run_reads = record.counters.own.get_mut(&Counter::PhysicalReads).unwrap();
            *run_reads /= 2;
        });
        let attribution = &record.whose["physical_reads_per_s"];
        assert!(attribution.marked, "{attribution:?}");
        assert!((attribution.others_pct.unwrap() - 50.0).abs() < 0.01, "{attribution:?}");
        assert!(record.whose["buffer_hit_pct"].marked);
        assert!(!record.whose["ops_per_s"].marked);
        assert_eq!(record.status, Status::Invalid);
    }

    #[test]
    fn redo_with_foreign_rows_is_marked_and_valid_if_target_is_shared() {
        let disturb = |record: &mut RunRecord| {
            record.counters.elsewhere.insert(Counter::RowsWritten, 128_000);
            let Waits::Sampled { company, .. } = &mut record.waits else { panic!() };
            *company =
                dyno_record::ForeignActivity::Sampled { average_active_sessions: 0.04, seen: Vec::new() };
        };
        let record = judged(disturb);
        assert_eq!(record.status, Status::Invalid, "{:?}", record.reasons);
        let shared = judged(|record| {
            disturb(record);
            record.plan.target.shared = true;
        });
        assert_eq!(shared.status, Status::Valid, "{:?}", shared.reasons);
        let attribution = &shared.whose["redo_mb_per_s"];
        assert!(attribution.marked, "{attribution:?}");
        assert!((attribution.others_pct.unwrap() - 50.0).abs() < 0.1, "{attribution:?}");
    }

    #[test]
    fn active_sessions_of_others_mark_server_and_host_figures() {
        let record = judged(|record| {
            let Waits::Sampled { company, .. } = &mut record.waits else { panic!() };
            let other = OtherSessions {
                database: "shop".into(),
                program: "psql".into(),
                here: false,
                average_sessions: 0.1,
            };
            *company =
                dyno_record::ForeignActivity::Sampled { average_active_sessions: 0.1, seen: vec![other] };
        });
        assert_eq!(record.status, Status::Valid, "a tenth of a session is a warning: {:?}", record.reasons);
        assert!(record.whose["redo_mb_per_s"].marked);
        assert!(record.whose["cpu_busy_pct"].marked);
        assert!(!record.whose["logical_reads_per_s"].marked);
    }

    #[test]
    fn unexplained_device_writes_are_marked() {
        let device = |writes| judged(move |record| fixture::device_writes(record, writes));
        let quiet = device(4_000.0);
        assert!(!quiet.whose["device_writes_per_s"].marked);
        assert!(!quiet.whose["ops_per_s"].marked);
        let beside = device(80_000.0);
        let attribution = &beside.whose["device_writes_per_s"];
        assert!(attribution.marked, "{attribution:?}");
        assert!(attribution.others_pct.is_some_and(|pct| pct > 50.0), "{attribution:?}");
        let check = beside.audit.iter().find(|check| check.check == "device_writes").unwrap();
        assert_eq!(check.status, dyno_record::CheckStatus::Warn, "{}", check.detail);
        let operations = &beside.whose["ops_per_s"];
        assert!(operations.marked, "{operations:?}");
        assert!(operations.why.contains("of the device's writes"), "{operations:?}");
    }

    #[test]
    fn throughput_is_marked_when_other_programs_use_the_cpu() {
        let record = judged(|record| {
            record.hosts[0].counters.insert("others.cpu_s".into(), 33.0);
            record.hosts[0].counters.insert("processors.busy_s".into(), 39.8);
        });
        let operations = &record.whose["ops_per_s"];
        assert_eq!((operations.scope, operations.marked), (AttributionScope::Run, true));
        assert!(operations.why.contains("other programs used 82.5 % of the processors"), "{operations:?}");
    }

    #[test]
    fn server_figures_with_unknown_origin_are_marked() {
        let record = judged(|record| {
            record.counters.elsewhere.clear();
            record.waits = Waits::Absent { absent: "not asked for".into() };
        });
        let attribution = &record.whose["redo_mb_per_s"];
        assert!(attribution.marked, "{attribution:?}");
        assert!(attribution.why.contains("is unknown"), "{attribution:?}");
    }
}
