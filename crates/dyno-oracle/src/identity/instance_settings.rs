//! Preflight checks of instance settings that limit memory, processors and files, with their consequences.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::facts::OraclePreflightFacts;
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{note, ok, warn};
use dyno_engine::disk::human;

/// Bytes of the SGA that one byte of a process's page table maps: an 8-byte entry per page of 4 KiB.
const MAPPED_PER_BYTE: u64 = 4_096 / 8;

/// The size of page tables from which Dyno reports small pages.
const PAGE_TABLES_MIN: u64 = 256 << 20;

/// Redo log switches per hour that are acceptable: Oracle recommends one every 15 to 20 minutes.
const SWITCHES_PER_HOUR: f64 = 4.0;

/// The shortest time in seconds from which a rate of switches is computed.
const SWITCHES_OVER_S: u64 = 60;

/// The findings in the order in which they are shown.
pub(super) fn instance_settings(
    facts: &OraclePreflightFacts,
    plan: &Plan,
    needs: &WorkloadNeeds,
) -> Vec<Advice> {
    let mut all: Vec<Advice> = huge_pages(facts, plan.sessions()).into_iter().collect();
    all.push(async_io(facts));
    all.extend(direct_nfs(facts));
    all.push(processors(facts));
    if needs.writes() {
        all.extend([database_writers(facts), log_switches(facts)].into_iter().flatten());
    }
    all
}

/// Whether the SGA uses huge pages; absent on systems without this setting.
fn huge_pages(facts: &OraclePreflightFacts, sessions: u32) -> Option<Advice> {
    let settings = &facts.settings;
    let number = |name: &str| settings.number(name).filter(|bytes| *bytes > 0);
    if let Some(bytes) = number("memory_target") {
        return Some(warn(
            "huge_pages",
            format!(
                "memory_target is {}: with automatic memory management the SGA cannot use huge pages",
                human(bytes)
            ),
            "set sga_target and pga_aggregate_target, reset memory_target, and restart",
        ));
    }
    if settings.values.is_empty() {
        return Some(note(
            "huge_pages",
            "whether the SGA uses huge pages is unknown",
            "GRANT SELECT ON SYS.V_$PARAMETER",
        ));
    }
    let mode = settings.value("use_large_pages").map(str::to_ascii_uppercase)?;
    if mode == "ONLY" {
        return Some(ok("huge_pages", "use_large_pages is ONLY: the whole SGA is in huge pages"));
    }
    // Sessions use dedicated server processes, each of which eventually maps the whole SGA.
    let size = number("sga_max_size").or_else(|| number("sga_target"));
    let tables = size.map(|bytes| bytes / MAPPED_PER_BYTE * u64::from(sessions));
    let cost = match tables.filter(|bytes| *bytes >= PAGE_TABLES_MIN) {
        Some(bytes) => {
            format!("; in pages of 4 KiB, {sessions} sessions need up to {} of page tables", human(bytes))
        }
        None => String::new(),
    };
    let only =
        "reserve vm.nr_hugepages for the SGA and ALTER SYSTEM SET use_large_pages = ONLY SCOPE = SPFILE";
    Some(match mode.as_str() {
        "FALSE" if tables.is_none_or(|bytes| bytes >= PAGE_TABLES_MIN) => {
            warn("huge_pages", format!("use_large_pages is FALSE{cost}"), only)
        }
        "FALSE" => note("huge_pages", "use_large_pages is FALSE", only),
        _ => note(
            "huge_pages",
            format!(
                "use_large_pages is {mode}: memory that finds no huge page at startup uses small \
                pages{cost}"
            ),
            format!("the alert log reports at startup how many were found; to be certain, {only}"),
        ),
    })
}

/// Whether file requests run asynchronously.
fn async_io(facts: &OraclePreflightFacts) -> Advice {
    let settings = &facts.settings;
    match settings.value("disk_asynch_io") {
        Some(value) if value.eq_ignore_ascii_case("FALSE") => warn(
            "async_io",
            "disk_asynch_io is FALSE: each process waits for one request before it sends the next",
            "ALTER SYSTEM SET disk_asynch_io = TRUE SCOPE = SPFILE and restart",
        ),
        Some(_) => match settings.value("filesystemio_options").map(str::to_ascii_uppercase).as_deref() {
            Some("SETALL" | "ASYNCH") => ok("async_io", "requests to files are asynchronous"),
            Some(mode) => note(
                "async_io",
                format!(
                    "filesystemio_options is {mode}: in a file system each process waits for one request before it sends the next; ASM and direct NFS do not"
                ),
                "ALTER SYSTEM SET filesystemio_options = SETALL SCOPE = SPFILE and restart",
            ),
            None => ok("async_io", "disk_asynch_io is TRUE"),
        },
        None => note(
            "async_io",
            "whether requests to files are asynchronous is unknown",
            "GRANT SELECT ON SYS.V_$PARAMETER",
        ),
    }
}

/// Servers that Oracle's own NFS client uses; absent if there are none or they are not visible.
fn direct_nfs(facts: &OraclePreflightFacts) -> Option<Advice> {
    let servers = facts.nfs_servers.filter(|servers| *servers > 0)?;
    Some(note(
        "direct_nfs",
        format!(
            "direct NFS serves files from {servers} mounts: the host's own NFS and disk counters do not see these requests"
        ),
        "compare with V$DNFS_STATS and with the filer's counters",
    ))
}

/// Whether the instance may use all processors.
fn processors(facts: &OraclePreflightFacts) -> Advice {
    let settings = &facts.settings;
    let count = settings.value("cpu_count").unwrap_or("not known");
    let plan = settings.value("resource_manager_plan").filter(|plan| !plan.is_empty());
    match (plan, settings.set.contains("cpu_count")) {
        (Some(plan), true) => warn(
            "processors",
            format!(
                "cpu_count was set to {count} and resource_manager_plan is {plan}: active sessions beyond \
                {count} wait for `resmgr:cpu quantum`, while the host's processors may be idle"
            ),
            "expect the limit at this number, or ALTER SYSTEM RESET cpu_count for the measurement",
        ),
        (Some(plan), false) => note(
            "processors",
            format!("resource_manager_plan is {plan}: it may throttle sessions (`resmgr:cpu quantum`)"),
            "ALTER SYSTEM SET resource_manager_plan = '' for the measurement; a maintenance window may set it again",
        ),
        (None, true) => note(
            "processors",
            format!(
                "cpu_count was set to {count}, and no resource plan enforces it: it only sizes parallel work, latches and caches"
            ),
            "ALTER SYSTEM RESET cpu_count, unless it is what you measure",
        ),
        (None, false) => {
            ok("processors", format!("no resource plan limits the instance's {count} processors"))
        }
    }
}

/// Whether fewer database writers run than Oracle would start by default.
fn database_writers(facts: &OraclePreflightFacts) -> Option<Advice> {
    let writers = facts.settings.number("db_writer_processes")?;
    let due = facts.settings.number("cpu_count")?.div_ceil(8).max(1);
    Some(match writers < due && facts.settings.set.contains("db_writer_processes") {
        true => note(
            "database_writers",
            format!(
                "db_writer_processes was set to {writers}, but Oracle would start {due}: sessions may wait \
                for clean buffers (`free buffer waits`)"
            ),
            "ALTER SYSTEM RESET db_writer_processes SCOPE = SPFILE and restart",
        ),
        false => ok("database_writers", format!("{writers} processes write changed blocks")),
    })
}

/// How often the redo log was switched recently; absent if that is unknown.
fn log_switches(facts: &OraclePreflightFacts) -> Option<Advice> {
    let (groups, seconds) = facts.redo_used?;
    if seconds < SWITCHES_OVER_S {
        return None;
    }
    let per_hour = groups as f64 * 3_600.0 / seconds as f64;
    let words =
        format!("the last {groups} redo logs took {} minutes, {per_hour:.1} switches an hour", seconds / 60);
    Some(match per_hour <= SWITCHES_PER_HOUR {
        true => ok("log_switches", words),
        false => note(
            "log_switches",
            format!(
                "{words}: each switch starts a checkpoint, and sessions wait (`log file switch`) if it \
                does not finish in time"
            ),
            "size the logs so that one lasts for 15 to 20 minutes of this load",
        ),
    })
}

#[cfg(test)]
mod tests {
    use dyno_engine::settings::ServerSettings;
    use dyno_record::Severity::{Note, Ok, Warn};

    use super::super::preflight::tests::{facts, plan};
    use super::*;

    fn with(set: &[(&str, &str)], usual: &[(&str, &str)]) -> OraclePreflightFacts {
        let mut settings = ServerSettings::of(&[set, usual].concat());
        settings.set = set.iter().map(|(name, _)| (*name).to_owned()).collect();
        OraclePreflightFacts { settings, ..facts("PRIMARY") }
    }

    fn find(facts: &OraclePreflightFacts, check: &str) -> Advice {
        let plan = plan(&["run.sessions_per_schema=100", "workload.update_pct=20"]);
        let needs = WorkloadNeeds::of_block_workload(&plan);
        let all = instance_settings(facts, &plan, &needs);
        all.into_iter().find(|one| one.check == check).unwrap_or_else(|| panic!("no {check}"))
    }

    #[test]
    fn instance_settings_have_expected_severity() {
        let sga = ("sga_target", "68719476736");
        for (check, set, usual, severity, words) in [
            ("huge_pages", &[("memory_target", "1073741824")][..], &[][..], Warn, "cannot use huge pages"),
            ("huge_pages", &[("use_large_pages", "ONLY")], &[sga], Ok, "whole SGA"),
            // 64 GiB / 512 × 100 sessions.
            ("huge_pages", &[("use_large_pages", "FALSE")], &[sga], Warn, "12.5 GiB of page tables"),
            ("huge_pages", &[("use_large_pages", "FALSE")], &[("sga_target", "1048576")], Note, "is FALSE"),
            ("huge_pages", &[], &[("use_large_pages", "TRUE"), sga], Note, "12.5 GiB of page tables"),
            ("huge_pages", &[], &[], Note, "is unknown"),
            ("async_io", &[], &[], Note, "is unknown"),
            ("async_io", &[("disk_asynch_io", "FALSE")], &[], Warn, "waits for one request"),
            ("async_io", &[], &[("disk_asynch_io", "TRUE"), ("filesystemio_options", "none")], Note, "NONE"),
            (
                "async_io",
                &[],
                &[("disk_asynch_io", "TRUE"), ("filesystemio_options", "SETALL")],
                Ok,
                "asynchronous",
            ),
            ("processors", &[("cpu_count", "4")], &[("resource_manager_plan", "P1")], Warn, "beyond 4 wait"),
            (
                "processors",
                &[],
                &[("cpu_count", "4"), ("resource_manager_plan", "P1")],
                Note,
                "throttle sessions",
            ),
            ("processors", &[("cpu_count", "4")], &[], Note, "no resource plan enforces it"),
            ("processors", &[], &[("cpu_count", "4")], Ok, "the instance's 4 processors"),
            (
                "database_writers",
                &[("db_writer_processes", "1")],
                &[("cpu_count", "64")],
                Note,
                "would start 8",
            ),
            ("database_writers", &[], &[("db_writer_processes", "1"), ("cpu_count", "4")], Ok, "1 processes"),
        ] {
            let advice = find(&with(set, usual), check);
            assert_eq!(advice.severity, severity, "{advice:?}");
            assert!(advice.found.contains(words), "{words}: {advice:?}");
        }
    }

    #[test]
    fn log_switch_rate_is_reported_only_for_writing_runs() {
        let with_redo_used = |used| OraclePreflightFacts { redo_used: used, ..facts("PRIMARY") };
        let (often, seldom) = (
            find(&with_redo_used(Some((3, 600))), "log_switches"),
            find(&with_redo_used(Some((3, 3_600))), "log_switches"),
        );
        assert!(often.severity == Note, "{often:?}");
        assert!(often.found.contains("18.0 switches an hour"), "{often:?}");
        assert!(seldom.severity == Ok, "{seldom:?}");
        assert!(seldom.found.contains("3.0 switches an hour"), "{seldom:?}");
        let reading = plan(&[]);
        let needs = WorkloadNeeds::of_block_workload(&reading);
        for (used, plan) in [(None, &plan(&["workload.update_pct=20"])), (Some((3, 600)), &reading)] {
            let needs = if used.is_some() { &needs } else { &WorkloadNeeds::of_block_workload(plan) };
            let all = instance_settings(&with_redo_used(used), plan, needs);
            assert!(all.iter().all(|one| one.check != "log_switches"), "{all:?}");
        }
    }

    #[test]
    fn huge_page_finding_is_omitted_where_unsupported() {
        assert!(huge_pages(&with(&[], &[("cpu_count", "4")]), 100).is_none());
    }

    #[test]
    fn direct_nfs_is_reported_if_it_serves_files() {
        let nfs = |servers| OraclePreflightFacts { nfs_servers: servers, ..facts("PRIMARY") };
        assert!(direct_nfs(&nfs(None)).is_none());
        assert!(direct_nfs(&nfs(Some(0))).is_none());
        assert!(direct_nfs(&nfs(Some(2))).unwrap().found.contains("from 2 mounts"));
    }
}
