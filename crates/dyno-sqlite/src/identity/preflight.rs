//! Reports what would falsify or prevent a run, each with a hint.

use std::path::{Path, PathBuf};

use dyno_plan::{Bytes, Connect, DataSpec, Plan};
use dyno_record::{Advice, Severity};

use super::fs::{self, FileSystem};
use crate::connect::Params;
use crate::shared::SqliteSharedState;
use dyno_engine::disk::human;
use dyno_engine::{TargetError, WorkloadNeeds};

/// Space that a load needs relative to its rows, for interior pages, indexes and WAL.
const ROOM_FACTOR: f64 = 1.3;

/// Largest database in memory, in bytes.
const MEMORY_BYTES_MAX: u64 = 2 << 30;

struct Findings(Vec<Advice>);

impl Findings {
    fn add(&mut self, check: &str, severity: Severity, finding: impl Into<String>, way_out: &str) {
        self.0.push(Advice {
            check: check.to_owned(),
            severity,
            found: finding.into(),
            way_out: way_out.to_owned(),
        });
    }

    fn ok(&mut self, check: &str, finding: impl Into<String>) {
        self.add(check, Severity::Ok, finding, "");
    }
}

/// All findings about a run of `plan`.
pub(crate) fn preflight(
    shared: &SqliteSharedState,
    plan: &Plan,
    needs: &WorkloadNeeds,
) -> Result<Vec<Advice>, TargetError> {
    let params = &shared.params;
    let mut findings = Findings(Vec::new());
    if needs.server_loops {
        findings.add(
            "drive",
            Severity::Fail,
            "workload.drive is server, but SQLite has no stored procedures",
            "set workload.drive to client: SQLite runs inside this process, so there are no round trips to \
            save",
        );
    }
    if plan.workload.connect == Connect::Transaction && params.in_memory() {
        findings.add(
            "connect",
            Severity::Fail,
            "workload.connect is transaction, but a database in memory has no file to reopen",
            "name a file, or leave workload.connect out",
        );
    }
    let test_bytes =
        if needs.uses_test_tables() { test_table_bytes(&mut findings, shared, plan) } else { None };
    match params.file() {
        Some(path) => {
            file(&mut findings, path, test_bytes, params.direct);
            let size = match needs.uses_test_tables() {
                true => test_bytes.map(|bytes| ("the data", bytes)),
                false => file_bytes(path).map(|bytes| ("the file", bytes)),
            };
            cache(&mut findings, params, size);
            durability(&mut findings, params);
        }
        None => memory(&mut findings, params, test_bytes),
    }
    concurrency(&mut findings, params, plan.sessions(), needs);
    Ok(findings.0)
}

/// Bytes of the test tables; absent if the file's pages cannot have the size that the plan requires.
fn test_table_bytes(findings: &mut Findings, shared: &SqliteSharedState, plan: &Plan) -> Option<u64> {
    match shared.block_size_of(plan.data.block_size) {
        Ok(block_size) => {
            findings.ok("block size", format!("the page size is {block_size}"));
            let spec = DataSpec::of(plan, block_size);
            Some(spec.total_rows().saturating_mul(spec.block_size))
        }
        Err(error) => {
            findings.add("block size", Severity::Fail, error.message, &error.hint);
            None
        }
    }
}

/// Bytes of the database file; absent if it is empty or does not exist.
fn file_bytes(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|facts| facts.len()).filter(|bytes| *bytes > 0)
}

fn file(findings: &mut Findings, path: &Path, data_bytes: Option<u64>, direct: bool) {
    let folder: PathBuf = path.parent().map_or_else(|| "/".into(), Path::to_path_buf);
    let Ok(system) = FileSystem::of(&folder) else {
        let missing_folder = format!("the directory {} does not exist", folder.display());
        return findings.add(
            "file",
            Severity::Fail,
            missing_folder,
            &format!("mkdir -p {}", folder.display()),
        );
    };
    if !fs::writable(&folder) {
        let read_only_folder = format!("{} cannot be written to", folder.display());
        findings.add(
            "file",
            Severity::Fail,
            read_only_folder,
            "allow writing: SQLite creates its journal next to the file",
        );
    } else if path.exists() && !fs::writable(path) {
        let read_only_file = format!("{} cannot be written to", path.display());
        findings.add(
            "file",
            Severity::Fail,
            read_only_file,
            "allow writing to the file, or name another one",
        );
    } else {
        findings.ok("file", format!("{} on {}", path.display(), system.name()));
    }
    space(findings, path, system, data_bytes);
    if system.is_network() {
        let network_warning = format!(
            "{} is a network file system: its locks are slow, and WAL does not work across hosts",
            system.name()
        );
        findings.add(
            "file system",
            Severity::Warn,
            network_warning,
            "use a local file system, or run on one host only",
        );
    } else if system.is_memory() {
        let memory_warning =
            format!("{} keeps files in memory: reads, writes and syncs never reach a device", system.name());
        findings.add(
            "file system",
            Severity::Warn,
            memory_warning,
            "put the file on a device to measure storage",
        );
    }
    if direct && fs::knows_direct(&folder) == Some(false) {
        let no_direct_io = format!("{} does not support O_DIRECT", system.name());
        findings.add(
            "direct",
            Severity::Fail,
            no_direct_io,
            "use direct=off, or put the file on ext4, xfs or btrfs",
        );
    }
}

fn space(findings: &mut Findings, path: &Path, system: FileSystem, data_bytes: Option<u64>) {
    let Some(data_bytes) = data_bytes else { return };
    let existing_bytes = file_bytes(path).unwrap_or(0);
    let needed = ((data_bytes as f64 * ROOM_FACTOR) as u64).saturating_sub(existing_bytes);
    let free = human(system.free_bytes);
    let finding = match needed {
        0 => format!("the data needs no additional space; {free} are free"),
        _ => format!("the data needs {} more; {free} are free", human(needed)),
    };
    if needed > system.free_bytes {
        findings.add("disk space", Severity::Fail, finding, "free space, or lower data.scale");
    } else {
        findings.ok("disk space", finding);
    }
}

/// `size` states what is compared with the cache and its bytes; absent if it does not exist.
fn cache(findings: &mut Findings, params: &Params, size: Option<(&str, u64)>) {
    if params.mmap.0 > 0 {
        findings.add(
            "mmap",
            Severity::Warn,
            format!(
                "{} of the file are mapped: SQLite does not count logical or physical reads of them",
                params.mmap
            ),
            "use mmap=0, or accept that these figures are absent",
        );
    }
    if params.direct {
        findings.ok("page cache", "reads and writes of the file bypass the operating system's page cache");
        return;
    }
    let Some((what, bytes)) = size else { return };
    if bytes > params.cache.0 {
        let finding = format!(
            "{what} is larger than the {} cache: the operating system's page cache may answer reads \
            that miss SQLite's cache, so physical reads may not reach the device",
            human(params.cache.0)
        );
        findings.add("page cache", Severity::Note, finding, "add direct=on to the URL to measure the device");
    } else {
        let summary = format!("{what} fits into each session's {} cache", human(params.cache.0));
        findings.ok("page cache", summary);
    }
}

/// Settings under which commits or the file do not survive a crash.
pub(super) fn not_durable(params: &Params) -> Vec<String> {
    let (journal, sync) = (params.journal, params.sync);
    let mut all = Vec::new();
    if params.file().is_none() {
        return all;
    }
    if matches!(journal, "off" | "memory") {
        all.push(format!("journal = {journal}: a crash in the middle of a transaction can destroy the file"));
    }
    if sync == "off" {
        all.push("sync = off: a power failure loses commits and can destroy the file".to_owned());
    } else if sync == "normal" && journal == "wal" {
        all.push("sync = normal with journal = wal: a power failure loses the last commits".to_owned());
    }
    all
}

fn durability(findings: &mut Findings, params: &Params) {
    let (journal, sync) = (params.journal, params.sync);
    let all = not_durable(params);
    if all.is_empty() {
        findings.ok("durability", format!("every commit is durable (journal={journal}, sync={sync})"));
    }
    for found in all {
        let hint = "use journal=wal and sync=full to measure durable commits";
        findings.add("durability", Severity::Warn, found, hint);
    }
}

fn memory(findings: &mut Findings, params: &Params, data_bytes: Option<u64>) {
    findings.add(
        "storage",
        Severity::Note,
        "the data is in this process's memory, and each command loads it again; there are no physical \
        reads and no redo",
        "name a file in target.url to measure storage",
    );
    let Some(bytes) = data_bytes else { return };
    if bytes as f64 * 1.02 > MEMORY_BYTES_MAX as f64 {
        let size_fault =
            format!("the data takes {} MB, but a database in memory holds at most 2 GiB", bytes / 1_000_000);
        findings.add("memory", Severity::Fail, size_fault, "lower data.scale, or use a file on /dev/shm");
    } else if bytes > params.cache.0 {
        let cache_note = format!(
            "the data is larger than each session's cache of {}: pages are copied into it again and again",
            params.cache
        );
        let way_out = format!(
            "add cache={} to the URL to measure reads of cached pages",
            Bytes(bytes.next_power_of_two())
        );
        findings.add("memory", Severity::Note, cache_note, &way_out);
    }
}

fn concurrency(findings: &mut Findings, params: &Params, sessions: u32, needs: &WorkloadNeeds) {
    if params.locking == "exclusive" && sessions > 1 {
        let locking_fault = format!("locking=exclusive allows one session, but the plan has {sessions}");
        findings.add(
            "locking",
            Severity::Fail,
            locking_fault,
            "use locking=normal, or one schema with one session",
        );
    }
    if sessions > 1 && needs.writes() {
        let writers_note = format!(
            "{sessions} sessions write, but SQLite allows one writer at a time: they queue for the lock"
        );
        findings.add(
            "writers",
            Severity::Note,
            writers_note,
            "this is how SQLite works; compare with one session",
        );
        if params.journal != "wal" {
            let readers_note =
                format!("with journal={}, readers and the writer block each other", params.journal);
            let way_out = if params.in_memory() { "use a file with journal=wal" } else { "use journal=wal" };
            findings.add("readers", Severity::Note, readers_note, way_out);
        }
    }
}
