//! Head of a record: the run, its plan, and its result.

use dyno_analyze::CurveSummaries;
use dyno_plan::{Arrivals, Bytes, Commit, DriveMode, KeyDistribution, Redo, WorkloadSettings, keys};
use dyno_record::{
    Class, Fleet, FleetHost, ImportSource, Pipelined, RecordKind, RunRecord, TargetFacts, WorkloadFacts,
};

use super::lists::{more, pairs};
use crate::content::answer::answer_text;
use crate::content::facts::is_beside;
use crate::content::result::{ResultRow, RunFigures, has_result, host_words, placement_words};
use crate::content::result_table::figure_card;
use crate::content::role;
use crate::content::watched::watch_text;
use crate::number::{self, bytes, count, percent, span_s, time_us};
use crate::style::{Paint, Style};
use crate::text::{clean, indent, truncate, wrap};

/// Maximum reasons and targets shown.
const LIST_MAX: usize = 8;

/// Maximum columns of the name; names given by Dyno have twenty.
const NAME_MAX: usize = 60;

/// The run's name, status with reasons, target, host, version.
pub(super) fn head(record: &RunRecord, style: &Style) -> String {
    let paint = crate::model::status::paint(record.status);
    let kind_word = if record.kind == RecordKind::Watch { "watch" } else { "run" };
    let title = format!("{kind_word} {}", truncate(&clean(&record.id), NAME_MAX));
    let mut out =
        format!("{}  {}\n", style.paint(Paint::Head, &title), style.paint(paint, record.status.words()));
    for reason in record.reasons.iter().take(LIST_MAX) {
        for line in wrap(&clean(reason), style.columns() - 2, 4) {
            out.push_str(&format!("  {}\n", style.paint(paint, &line)));
        }
    }
    out.push_str(&indent(&more(record.reasons.len(), LIST_MAX, style)));
    if CurveSummaries::has_summary(record) {
        out.push_str(&indent(&answer_text(
            &CurveSummaries::of_run(record),
            &Style { width: style.columns() - 2, ..*style },
        )));
    }
    let mut list = vec![("started".to_owned(), moments(record))];
    for target in record.targets.iter().take(LIST_MAX) {
        list.push(("target".into(), target.url.clone()));
        list.push(("database".into(), format!("{} {}", target.identity.product, target.identity.version)));
        list.extend(pooler(record, target));
    }
    let host = record.host();
    if let Some(fleet) = &record.fleet {
        list.extend(fleet_lines(fleet));
        list.push(("controller".into(), format!("{} ({})", host.name, role::words(record))));
    } else if !host.name.is_empty() {
        let name = if record.kind == RecordKind::Run { "driver host" } else { "host" };
        list.push((name.into(), format!("{} ({})", host.name, role::words(record))));
    }
    for host in record.hosts.iter().filter(|host| is_beside(record, host)).take(LIST_MAX) {
        list.push(("database on".into(), format!("{} ({})", host.name, role::of(record, host))));
    }
    if let Some(source) = &record.imported {
        let line = source.line.map_or_else(String::new, |line| format!(" line {line}"));
        list.push(("imported from".into(), format!("{}{line}; not measured by Dyno", source.file)));
        let labels = source.labels.iter().filter(|(name, value)| *name != "host" || **value != host.name);
        list.extend(labels.map(|(name, value)| (name.clone(), value.clone())));
    }
    list.extend(record.variant.iter().map(|variant| ("variant".to_owned(), variant.clone())));
    if !record.tags.is_empty() {
        list.push(("tags".into(), record.tags.join(", ")));
    }
    match &record.imported {
        None => list.push(("dyno".into(), record.dyno_version.clone())),
        Some(source) => list.push(("imported".into(), imported_words(source, &record.dyno_version))),
    }
    let inner = Style { width: style.columns() - 2, ..*style };
    out.push_str(&indent(&pairs(&list, usize::MAX, &inner)));
    out
}

/// The driver hosts: the share of each, its load, and the accuracy of its clock.
fn fleet_lines(fleet: &Fleet) -> Vec<(String, String)> {
    let describe_host = |host: &FleetHost| {
        let mut words =
            format!("{}: {} sessions, {} operations", clean(&host.name), host.sessions, count(host.ops));
        if let Some(busy_pct) = host.cpu_busy_pct {
            words.push_str(&format!(", CPU {} % busy", percent(busy_pct)));
        }
        if host.clock.exchanges > 0 {
            words.push_str(&format!(", clock error up to {}", time_us(host.clock.bound_us)));
        }
        if let Some(bound) = dyno_analyze::driver_bound_by(host) {
            words.push_str(&format!("; this host was the limit: {bound}"));
        }
        match &host.lost {
            Some(why) => format!("{}: {} sessions, lost: {}", clean(&host.name), host.sessions, clean(why)),
            None => words,
        }
    };
    let first =
        ("driver host".to_owned(), format!("{} hosts of group {}", fleet.hosts.len(), clean(&fleet.group)));
    let shown = fleet
        .hosts
        .iter()
        .take(LIST_MAX)
        .map(|host| (format!("host {}", host.rank + 1), describe_host(host)));
    let hidden = fleet.hosts.len().saturating_sub(LIST_MAX);
    let more = (hidden > 0).then(|| (String::new(), format!("and {hidden} more")));
    std::iter::once(first).chain(shown).chain(more).collect()
}

/// Start time and length of the measurement.
fn moments(record: &RunRecord) -> String {
    if !record.is_dated() {
        return "time of measurement not stated by the source".to_owned();
    }
    // Database reports print their host's local time without a zone.
    let zone = match &record.imported {
        Some(source) if source.format == "awr" => " (local time of the host, time zone unknown)",
        _ => "",
    };
    match record.started_at == record.ended_at {
        true => format!("{}{zone}", record.started_at),
        false => format!("{}, ended {}{zone}", record.started_at, record.ended_at),
    }
}

fn imported_words(source: &ImportSource, version: &str) -> String {
    let at = if source.imported_at.is_empty() { String::new() } else { format!("{} ", source.imported_at) };
    format!("{at}by dyno {version}")
}

/// How a pooler between the sessions and the database affects the figures.
fn pooler(record: &RunRecord, target: &TargetFacts) -> Option<(String, String)> {
    let how = target.identity.settings.get("pooler")?;
    let server = record.plan.target.observe_url.as_ref().map_or_else(String::new, |url| format!(" at {url}"));
    let words = format!(
        "{how}: response times hold the pooler's; counters are read from the server{server}, and those of the window may be a \
         second early or late"
    );
    Some(("pooler".to_owned(), words))
}

/// Plan keys that the source of an imported record states; other keys have no meaning.
fn known_plan(record: &RunRecord, style: &Style) -> String {
    let known_keys = keys::all().filter(|key| record.knows(key.path));
    let list: Vec<(String, String)> =
        known_keys.filter_map(|key| Some((key.path.to_owned(), key.get(&record.plan)?))).collect();
    match list.as_slice() {
        [] => "not stated by the source\n".to_owned(),
        list => pairs(list, usize::MAX, style),
    }
}

/// Maximum phases named in the plan's line.
const PHASES_SHOWN: usize = 5;

/// The parts of the plan that shape the figures.
pub(super) fn plan(record: &RunRecord, style: &Style) -> String {
    match record.kind {
        RecordKind::Import => return known_plan(record, style),
        RecordKind::Watch | RecordKind::Component => return String::new(),
        RecordKind::Run => {}
    }
    let plan = &record.plan;
    let (work, run) = (&plan.workload, &plan.run);
    let arrivals = match work.arrivals {
        Arrivals::Constant => "constant",
        Arrivals::Poisson => "Poisson",
    };
    let drive = match work.drive {
        DriveMode::Client => "client drive: the client executes each operation",
        DriveMode::Server => "server drive: the loop runs inside the database",
    };
    let drive = format!("{drive}{}", concentration_words(work));
    let loop_words = match work.rate {
        Some(rate) => format!("open loop at {rate}, {arrivals} arrivals; {drive}"),
        None if !work.phases.is_empty() => {
            let phases: Vec<String> = work
                .curve(0.0)
                .iter()
                .flat_map(|curve| curve.stages())
                .map(|stage| stage.name.clone())
                .collect();
            let shown = phases.iter().take(PHASES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
            let more = match phases.len().saturating_sub(PHASES_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("open loop, rate by a schedule ({shown}{more}), {arrivals} arrivals; {drive}")
        }
        None => format!("closed loop; {drive}"),
    };
    let length = match (run.time, run.ops_per_session) {
        (_, Some(ops)) => format!("{} operations per session", count(ops)),
        (Some(time), None) => time.to_string(),
        (None, None) => "no length set".into(),
    };
    let beside = plan.workload_shares().skip(1).map(|side| side.sessions).sum::<u32>();
    let beside = if beside > 0 { format!(", {beside} of other workloads") } else { String::new() };
    let sessions = format!(
        "{} ({} per schema{beside}), warm-up {}, window {length}",
        plan.sessions(),
        run.sessions_per_schema,
        run.warmup
    );
    let mut list = record.workload.as_ref().map_or_else(|| method(record), |own| own_workload(record, own));
    list.extend([("load".to_owned(), loop_words), ("sessions".to_owned(), sessions)]);
    pairs(&list, usize::MAX, style)
}

/// Description of a custom workload.
fn own_workload(record: &RunRecord, custom_workload: &WorkloadFacts) -> Vec<(String, String)> {
    let writes = if custom_workload.writes { "read-write" } else { "read-only" };
    let mut list = vec![("workload".to_owned(), format!("{}, {writes}", custom_workload.version()))];
    let share = |class: &Class| match class.share.percent {
        Some(percent) => format!("{percent} % {}", class.name),
        None => class.name.clone(),
    };
    for (other, side) in record.beside.iter().zip(record.plan.workload_shares().skip(1)) {
        let pace = side.rate.map_or_else(|| "closed loop".to_owned(), |rate| format!("open loop at {rate}"));
        let sessions = number::sessions(side.sessions.into());
        list.push(("background".to_owned(), format!("{}, {sessions}, {pace}", other.version())));
    }
    let transactions: Vec<String> = record.classes.iter().map(share).collect();
    list.push(("transactions".to_owned(), transactions.join(", ")));
    let trips = |(least, most): (u64, Option<u64>)| match most {
        Some(most) if most == least => count(least),
        Some(most) => format!("{} to {}", count(least), count(most)),
        None => format!("{} or more", count(least)),
    };
    let describe_pipelined =
        |one: &Pipelined| format!("{} {} instead of {}", one.class, trips(one.round_trips), trips(one.alone));
    let all = std::iter::once(custom_workload).chain(&record.beside);
    let pipelined: Vec<String> = all.flat_map(|own| &own.pipelined).map(describe_pipelined).collect();
    if !pipelined.is_empty() {
        list.push(("round trips".to_owned(), format!("pipelined, {}", pipelined.join("; "))));
    }
    list
}

/// Data and operations of the block workload.
fn method(record: &RunRecord) -> Vec<(String, String)> {
    let (data, work) = (&record.plan.data, &record.plan.workload);
    let loaded = record.targets.first().and_then(|target| target.data.as_ref());
    let size = match loaded {
        Some(spec) => {
            let scan = match spec.scan_rows {
                0 => String::new(),
                rows => format!(", scan table {} blocks", count(rows)),
            };
            format!("{} × {} blocks of {}{scan}", spec.schemas, count(spec.rows), bytes(spec.block_size))
        }
        None => {
            let scan = match data.scan_scale.blocks(Bytes(1)).0 {
                0 => String::new(),
                _ => format!(", scan table {}", data.scan_scale),
            };
            format!("{} × {}{scan}", data.schemas, data.scale)
        }
    };
    let redo = match work.redo {
        Redo::Lite => "lite",
        Redo::Heavy => "heavy",
    };
    let commit = match work.commit {
        Commit::Wait => "",
        Commit::Nowait => ", commits that do not wait",
        Commit::Plsql => ", commits inside PL/SQL",
    };
    let mut reads = vec![format!("{} % scans", work.scan_pct), format!("{} % lookups", work.lookup_pct)];
    if work.secondary_pct > 0 {
        reads.push(format!("{} % lookups by the secondary key", work.secondary_pct));
    }
    let churn = match work.churn_pct() {
        0 => String::new(),
        pct => format!(", {pct} % inserts, {pct} % deletes"),
    };
    let mix = format!(
        "{} % updates ({redo}{commit}){churn}, of the reads {}; {} rows per operation",
        work.update_pct,
        reads.join(" and "),
        work.work_unit
    );
    vec![
        ("data".to_owned(), format!("{size}; {} % compressible, seed {}", data.compressible, data.seed)),
        ("operations".to_owned(), mix),
    ]
}

/// Where the load is concentrated, and how sessions sleep; empty if neither applies.
fn concentration_words(work: &WorkloadSettings) -> String {
    let mut words = String::new();
    match work.keys {
        KeyDistribution::Uniform => {}
        KeyDistribution::Zipf => {
            words.push_str(&format!("; keys by Zipf's law with exponent {}", work.zipf_exponent));
        }
        KeyDistribution::Latest => {
            words.push_str(&format!(
                "; the latest keys most, by Zipf's law with exponent {}",
                work.zipf_exponent
            ));
        }
    }
    if work.hot_spot_every > 0 {
        let (every, size, offset) = (work.hot_spot_every, work.hot_spot_size, work.hot_spot_offset);
        words.push_str(&format!("; 1 operation in {every} in a hot spot of {size} after {offset}"));
    }
    if work.hot_schema_every > 0 {
        words.push_str(&format!("; 1 in {} to schema 1", work.hot_schema_every));
    }
    if work.think_every > 0 {
        let how = if work.think_compensated { ", its own time included" } else { "" };
        let (every, least, most) = (work.think_every, work.think_min, work.think_max);
        words.push_str(&format!("; a sleep of {least} to {most} after 1 in {every}{how}"));
    }
    words
}

/// The figures, and how the window was measured.
pub(super) fn result(record: &RunRecord, style: &Style) -> String {
    let row = ResultRow { figures: Some(RunFigures::of(record)), ..ResultRow::from(record) };
    if record.kind == RecordKind::Import {
        return figure_card(&row, style);
    }
    if record.kind == RecordKind::Watch {
        return watch_text(record, style);
    }
    let Some(window) = &record.window else {
        return match record.fleet.is_some() && !record.ops.is_empty() {
            true => {
                "none: the counters were not read; the figures below are those of the sessions alone\n".into()
            }
            false => "none: the run ended before its window began\n".into(),
        };
    };
    let mut out = String::new();
    if !has_result(record) {
        let text =
            format!("{}: these figures are not a result; they are shown for diagnosis", record.status.name());
        out.push_str(&format!("{}\n", style.paint(Paint::Bad, &text)));
    }
    out.push_str(&figure_card(&row, style));
    let mut measured = format!(
        "{} between snapshots; start skew {}; connect time {}",
        span_s(window.seconds),
        time_us(record.gate.skew_us_max),
        time_us(record.gate.connect_s * 1e6)
    );
    if let Some(words) = host_words(record) {
        measured.push_str(&format!("; {words}"));
    }
    if let Some(placed) = placement_words(record) {
        measured.push_str(&format!("; {placed}"));
    }
    for line in wrap(&measured, style.columns(), 4) {
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
    }
    out
}
