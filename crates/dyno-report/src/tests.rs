//! Tests of all text that users see, with the records that it is made from.

mod ab;
mod documents;
mod marked;
mod read_tables;
mod renderings;
mod results;
mod widths;

use dyno_analyze::{fixture, judge};
use dyno_record::{
    Advice, AuditCheck, CheckStatus, CpuKind, CpuProfile, ErrorTally, Histogram, Metric, ProcessShare,
    Profile, RunRecord, RunSummary, Severity, StackFrame, StackNode, Status, SymbolShare, ThreadPlacement,
    Unit, WaitTime, Waits, Window,
};
use proptest::prelude::*;

use crate::text::width;
use crate::*;

/// A valid run with its audit and conclusion.
fn postgres() -> RunRecord {
    let mut record = fixture::postgres();
    judge(&mut record);
    record
}

/// A run whose audit failed.
fn invalid() -> RunRecord {
    let mut record = fixture::sqlite();
    record.gate.sessions = 3;
    judge(&mut record);
    assert_eq!(record.status, Status::Invalid);
    record
}

/// A run with the widest possible figures.
fn wide() -> RunRecord {
    let mut record = postgres();
    for metric in record.metrics.values_mut() {
        if let Metric::Value { value, unit } = metric {
            *value = if *unit == Unit::Percent { 100.0 } else { 1_234_567_890.0 };
        }
    }
    let mut histogram = Histogram::new();
    for ns in [1, 1_000, 1_000_000, 1_000_000_000, u64::MAX] {
        histogram.record_ns(ns);
    }
    for ops in record.ops.values_mut() {
        ops.service_us = histogram.summary();
        (ops.count, ops.rows, ops.errors) = (u64::MAX, u64::MAX, u64::MAX);
        ops.rate_per_s = 1e12;
    }
    record.status = Status::Interrupted;
    record.window.as_mut().unwrap().seconds = 8_640_000.0;
    record
}

/// A profile in which every text is an attack and every figure is impossible.
fn hostile_profile(text: &str) -> CpuProfile {
    let text = || text.to_owned();
    let process =
        ProcessShare { name: text(), kind: CpuKind::Database, samples: u64::MAX / 2, share_pct: f64::NAN };
    let symbol = SymbolShare {
        process: text(),
        process_kind: CpuKind::Database,
        symbol: text(),
        module: text(),
        kind: CpuKind::Kernel,
        samples: 7,
        share_pct: 1e9,
    };
    CpuProfile {
        host: text(),
        event: text(),
        frequency_hz: u32::MAX,
        seconds: f64::INFINITY,
        cpus: u32::MAX,
        samples: u64::MAX,
        weight: 10,
        notes: vec![text()],
        processes: vec![process; 2],
        symbols: vec![symbol; 100],
        frames: vec![StackFrame { name: text(), module: text(), kind: CpuKind::Other }; 3],
        stacks: (0..300).map(|at| StackNode { depth: at, frame: at % 5, weight: 10 }).collect(),
        ..CpuProfile::default()
    }
}

/// A record in which every text is an attack.
fn hostile(text: &str) -> RunRecord {
    let mut record = postgres();
    let text = || text.to_owned();
    (record.id, record.started_at, record.ended_at, record.dyno_version) = (text(), text(), text(), text());
    record.status = Status::Invalid;
    record.reasons = vec![text(); 30];
    let target = &mut record.targets[0];
    (target.url, target.engine) = (text(), text());
    (target.identity.product, target.identity.version) = (text(), text());
    target.identity.non_default = (0..100).map(|i| format!("{}{i}", text())).collect();
    target.identity.settings = target.identity.non_default.iter().map(|n| (n.clone(), text())).collect();
    let host = &mut record.hosts[0];
    (host.name, host.kernel, host.os, host.cpu_model) = (text(), text(), text(), text());
    host.facts = (0..100).map(|i| (format!("{}{i}", text()), text())).collect();
    host.mounts = [(text(), text())].into();
    record.errors = vec![
        ErrorTally {
            class: text(),
            code: text(),
            message: text(),
            count: u64::MAX,
            reconnects: u64::MAX,
            retried: 0,
            in_doubt: 0,
        };
        30
    ];
    record.audit = [CheckStatus::Pass, CheckStatus::Warn, CheckStatus::Fail, CheckStatus::Skipped]
        .map(|status| AuditCheck {
            check: text(),
            status,
            expected: text(),
            observed: text(),
            detail: text(),
        })
        .to_vec();
    let event = WaitTime { class: text(), event: text(), average_sessions: 1e9, share_pct: 400.0 };
    record.waits = Waits::Sampled {
        samples: u64::MAX,
        asked_per_s: 1.0,
        average_active_sessions: f64::NAN,
        events: vec![event; 50],
        company: Default::default(),
    };
    record.profile = Some(Profile::Taken(Box::new(hostile_profile(&text()))));
    record.metrics.insert(text(), Metric::Value { value: f64::NAN, unit: Unit::Count });
    record.metrics.insert(format!("{}2", text()), Metric::Absent { absent: text() });
    let ops = record.ops.get_mut("commit").unwrap();
    (ops.untimed, ops.service_us.histogram) = (Some(text()), Some(text()));
    record.ops.get_mut("all").unwrap().service_us.histogram = Some(text());
    let point = record.series.points[0].clone();
    record.series.points = vec![point; 5_000];
    record
}

/// The summary of a record in a list.
fn summary(record: &RunRecord) -> RunSummary {
    let all = record.ops.get("all").filter(|_| crate::content::result::has_result(record));
    RunSummary {
        id: record.id.clone(),
        started_at: record.started_at.clone(),
        status: record.status.into(),
        kind: record.kind,
        engine: "postgres".into(),
        database: Some(record.databases()).filter(|name| !name.is_empty()),
        target: record.targets.first().map_or_else(|| record.plan.target.url.to_string(), |t| t.url.clone()),
        sessions: record.plan.sessions(),
        update_pct: record.knows("workload.update_pct").then_some(record.plan.workload.update_pct),
        ops_per_s: all.map(|all| all.rate_per_s),
        p99_us: all.and_then(|all| all.service_us.p99),
        logical_reads_per_s: None,
        physical_reads_per_s: None,
        redo_mb_per_s: None,
        seconds: record.window.as_ref().map(Window::work_seconds),
        reason: record.reasons.first().cloned(),
        undated: !record.is_dated(),
        marked: record.marked().into_iter().map(str::to_owned).collect(),
        variant: record.variant.clone(),
        tags: record.tags.clone(),
        notes: record.notes().collect(),
        part_of: None,
    }
}

/// All texts that can be shown for a record.
fn everything(record: &RunRecord, style: &Style) -> Vec<String> {
    let row = ResultRow::from(record);
    let name = record.id.clone();
    let advice = [Severity::Ok, Severity::Note, Severity::Warn, Severity::Fail].map(|severity| Advice {
        check: name.clone(),
        severity,
        found: name.clone(),
        way_out: name.clone(),
    });
    let load = LoadRow { table: name.clone(), rows: u64::MAX, blocks: u64::MAX, bytes: u64::MAX };
    let drop = DropRow { kind: name.clone(), name: name.clone(), bytes: Some(u64::MAX) };
    let live = LiveFigures {
        phase: &name,
        elapsed_s: 1e7,
        length_s: Some(1e7),
        until_s: Some(1e7),
        ops_per_s: Some(1e10),
        p50_us: Some(1e9),
        p99_us: None,
        errors: u64::MAX,
        remaining_s: Some(1e7),
    };
    vec![
        show(record, style),
        result_table(&[row.clone(), ResultRow::from(&postgres())], style),
        result_card(&row, style),
        audit_words(&record.audit, style),
        audit_full(&record.audit, style),
        audit_table(&record.audit, style),
        list_table(&[summary(record)], style),
        advice_table(&advice, style),
        load_table(&vec![load; 50], style),
        drop_table(&[drop], style),
        live_line(&live, style),
    ]
}

fn assert_fits(record: &RunRecord) {
    let style = Style::default();
    for text in everything(record, &style) {
        for line in text.lines() {
            assert!(width(line) <= style.width, "{} columns: {line}", width(line));
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
        assert!(text.len() < 60_000, "{} bytes", text.len());
    }
}
