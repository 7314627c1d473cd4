//! `dyno check --deep`: everything that an engine does, done once on a small scale and compared with what must come of it.
//!
//! It loads two small schemas, runs every operation in both drives and every way of committing, reads the counters around
//! them, and drops what it made. It needs a target without data of Dyno's, so that it can never touch data of yours.

use std::collections::BTreeSet;
use std::sync::Arc;

use dyno_engine::advice::advice;
use dyno_engine::data::mix;
use dyno_engine::{
    Blocks, Cancel, DataState, Extra, LoadOptions, MonotonicClock, Op, Place, Silent, SliceDone, Target,
    TargetError, TargetErrorKind,
};
use dyno_plan::{Commit, DataSpec, Drive, Engines, Plan, Redo};
use dyno_record::{Advice, Counter, Counters, MarkKind, Reading, Severity, Snapshot};
use dyno_workload::blocks::Operated;

/// Rows of each table: more than one chunk of the look of every engine, and loaded in seconds.
const ROWS: u64 = 500;

/// Rows of one operation.
const WORK_UNIT: u32 = 16;

/// Operations of each class and drive.
const OPS: u64 = 20;

/// Rounds in which rows are inserted and deleted, to see where they go.
const ROUNDS: u64 = 5;

/// Looks at the counters until they hold what was done, and the pause between two: servers book it a moment later.
const LOOKS: u32 = 30;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// What the sessions did.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    rows_read: u64,
    rows_updated: u64,
    commits: u64,
}

/// The findings in the order in which they were made.
///
/// # Errors
/// The target holds data of Dyno's, or cannot be looked at; what fails on the way is a finding.
pub(crate) fn check(plan: &Plan, target: &dyn Target, engines: Engines) -> Result<Vec<Advice>, TargetError> {
    match target.survey()? {
        DataState::Empty => {}
        DataState::Partial { .. } | DataState::Loaded { .. } => {
            return Err(TargetError::new(
                TargetErrorKind::Data,
                "the deep check needs a target without data of Dyno's, for it loads and drops its own",
            )
            .hint("give another database, file or user by --target, or drop the data first: dyno drop"));
        }
    }
    let spec = DataSpec {
        schemas: 2,
        rows: ROWS,
        scan_rows: ROWS,
        block_size: target.block_size(plan.data.block_size)?.0,
        compressible: 0,
        seed: 42,
        secondary: target.extras().secondary,
    };
    let mut findings = Vec::new();
    let mut run = || -> Result<(), TargetError> {
        findings.push(loaded(target, &spec)?);
        findings.push(recognised(target, &spec)?);
        let before = target.observer(&spec)?.snapshot()?;
        let mut work = Work::default();
        for commit in commits(target, engines) {
            findings.push(client_drive(target, &spec, commit, &mut work)?);
            findings.extend(server_drive(target, &spec, commit, &mut work)?);
        }
        findings.extend(left(target, &spec, &mut work)?);
        findings.extend(growth(target, &spec, &mut work)?);
        findings.extend(counted(target, &spec, &before, work)?);
        findings.extend(versions(target, &spec, work));
        findings.push(waits(target));
        Ok(())
    };
    let outcome = run();
    if let Err(error) = outcome {
        findings.push(advice("deep", Severity::Fail, error.message, error.hint));
    }
    findings.push(dropped(target));
    Ok(findings)
}

/// Ways to commit that the engine can choose between.
fn commits(target: &dyn Target, engines: Engines) -> Vec<Commit> {
    let chosen = engines.named(target.engine()).map_or(&[][..], |engine| engine.commits);
    [Commit::Wait].into_iter().chain(chosen.iter().copied()).collect()
}

fn good(check: &str, found: String) -> Advice {
    advice(check, Severity::Ok, found, "")
}

fn bad(check: &str, found: String) -> Advice {
    advice(check, Severity::Fail, found, "report it with the output of `dyno check --deep --json`")
}

fn load(target: &dyn Target, spec: &DataSpec) -> Result<dyno_engine::LoadReport, TargetError> {
    let parallel = target.capabilities().load_parallel_max.min(2);
    let options =
        LoadOptions { parallel, replace: false, dyno_version: env!("CARGO_PKG_VERSION").to_owned() };
    target.load(spec, &options, &Silent, &Cancel::default())
}

fn loaded(target: &dyn Target, spec: &DataSpec) -> Result<Advice, TargetError> {
    let report = load(target, spec)?;
    let tables: Vec<String> = report
        .tables
        .iter()
        .map(|table| format!("{} {} rows in {} blocks", table.table, table.rows, table.blocks))
        .collect();
    let words = format!("{} in {:.1} s", tables.join(", "), report.seconds);
    let all_rows: u64 = report.tables.iter().map(|table| table.rows).sum();
    Ok(if all_rows == spec.total_rows() { good("load", words) } else { bad("load", words) })
}

fn recognised(target: &dyn Target, spec: &DataSpec) -> Result<Advice, TargetError> {
    let again = load(target, spec)?.already;
    target.spot_check(spec, 7)?;
    Ok(if again {
        good("recognise", "the data is known again, and a sample of it is what was loaded".to_owned())
    } else {
        bad("recognise", "a second load did not know the data of the first".to_owned())
    })
}

fn session(
    target: &dyn Target,
    spec: &DataSpec,
    drive: Drive,
    commit: Commit,
    redo: Redo,
) -> Result<Operated, TargetError> {
    let run_stamp =
        u64::from(std::process::id()) ^ commit as u64 ^ ((redo as u64) << 8) ^ ((drive as u64) << 16);
    let blocks = Blocks {
        schema: 2,
        spec: spec.clone(),
        work_unit: WORK_UNIT,
        redo,
        extra: target.extras(),
        seed: 3,
        run_stamp: mix(run_stamp),
        session: 0,
    };
    Operated::open(target, &blocks, drive, commit, Arc::new(MonotonicClock::default()))
}

/// The first key of operation `number`.
fn first_key(number: u64) -> u64 {
    1 + mix(number) % (ROWS - u64::from(WORK_UNIT))
}

/// What each operation of a class must read, update, insert or delete.
fn ops(extra: Extra, spec: &DataSpec) -> Vec<(Op, u64)> {
    let unit = u64::from(WORK_UNIT);
    (0..OPS)
        .flat_map(|number| {
            let first = first_key(number);
            let value = 1 + number % spec.groups();
            let key = ROWS + 1 + number;
            let common = [
                (Op::Select { first }, unit),
                (Op::Lookup { key: first }, 1),
                (Op::Scan, ROWS),
                (Op::Update { first, number }, unit),
            ];
            let secondary = extra.secondary.then(|| (Op::Secondary { value }, spec.group_rows(value)));
            let churn = [(Op::Insert { key, number }, 1), (Op::Delete { key }, 1)];
            common
                .into_iter()
                .chain(secondary)
                .chain(churn.into_iter().filter(move |_| extra.churn))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn failed(error: &dyno_engine::OpError) -> TargetError {
    TargetError::new(TargetErrorKind::Database, error.to_string())
}

/// Every operation, one at a time, light and heavy; reads and updates in schema 1 too, where sessions go there.
fn client_drive(
    target: &dyn Target,
    spec: &DataSpec,
    commit: Commit,
    work: &mut Work,
) -> Result<Advice, TargetError> {
    let name = format!("client {}", commit.name());
    let extra = target.extras();
    let (mut wrong, mut timed, mut count) = (Vec::new(), 0, 0);
    let places = if extra.hot_schema { &[Place::First, Place::Own][..] } else { &[Place::Own] };
    for redo in [Redo::Lite, Redo::Heavy] {
        let mut session = session(target, spec, Drive::Client, commit, redo)?;
        for &place in places {
            session.turn_to(place);
            // Rows of their own are in the sessions' own schema.
            let extra = Extra { churn: extra.churn && place == Place::Own, ..extra };
            for (op, rows) in ops(extra, spec) {
                let done = session.execute(op).map_err(|error| failed(&error))?;
                if done.rows != rows {
                    wrong.push(format!("{op:?} did {} rows and not {rows}", done.rows));
                }
                timed += u64::from(done.commit_began_ns.is_some());
                count += 1;
                work.note(op, done.rows);
            }
        }
        session.edge().map_err(|error| failed(&error))?;
        let read_back = session.verify_last_update().map_err(|error| failed(&error))?;
        if read_back != Some((u64::from(WORK_UNIT), u64::from(WORK_UNIT))) {
            wrong.push(format!("the last update reads back as {read_back:?}"));
        }
        session.close();
    }
    Ok(match wrong.first() {
        Some(first) => bad(&name, format!("{} operations went wrong: {first}", wrong.len())),
        None => good(
            &name,
            format!("{count} operations did what they should; {timed} commits have a time of their own"),
        ),
    })
}

impl Work {
    fn note(&mut self, op: Op, rows: u64) {
        match op {
            Op::Update { .. } => self.rows_updated += rows,
            Op::Insert { .. } => {}
            // A row that is deleted, like one that is read, has to be found.
            _ => self.rows_read += rows,
        }
        self.commits += u64::from(op.writes());
    }
}

/// What a slice of `ops` must have done.
fn whole(ops: &[(Op, u64)]) -> SliceDone {
    let mut all = SliceDone::default();
    for (op, rows) in ops {
        *match op {
            Op::Select { .. } => &mut all.rows_read[0],
            Op::Lookup { .. } => &mut all.rows_read[1],
            Op::Scan => &mut all.rows_read[2],
            Op::Secondary { .. } => &mut all.rows_read[3],
            Op::Update { .. } => &mut all.rows_updated,
            Op::Insert { .. } => &mut all.churned.0,
            Op::Delete { .. } => &mut all.churned.1,
        } += rows;
        all.commits += u64::from(op.writes());
    }
    all
}

/// The same operations in slices, each class alone and all together.
fn server_drive(
    target: &dyn Target,
    spec: &DataSpec,
    commit: Commit,
    work: &mut Work,
) -> Result<Option<Advice>, TargetError> {
    if !target.capabilities().server_drive {
        return Ok(None);
    }
    let name = format!("server {}", commit.name());
    let mut session = session(target, spec, Drive::Server, commit, Redo::Heavy)?;
    let all = ops(target.extras(), spec);
    let classes = all.len() / OPS as usize;
    // What is inserted in one slice is deleted in the next.
    let mut slices: Vec<Vec<(Op, u64)>> =
        (0..classes).map(|class| all.iter().skip(class).step_by(classes).copied().collect()).collect();
    slices.push(all);
    let mut wrong = None;
    for slice in &slices {
        let ops: Vec<Op> = slice.iter().map(|(op, _)| *op).collect();
        let (done, wanted) = (session.slice(&ops).map_err(|error| failed(&error))?, whole(slice));
        if done != wanted {
            wrong = Some(format!("a slice did {done:?} and not {wanted:?}"));
        }
        work.rows_read += done.rows_read.iter().sum::<u64>() + done.churned.1;
        work.rows_updated += done.rows_updated;
        work.commits += done.commits;
    }
    let (unit, count) = (u64::from(WORK_UNIT), 2 * classes as u64 * OPS);
    let read_back = session.verify_last_update().map_err(|error| failed(&error))?;
    if read_back != Some((unit, unit)) {
        wrong = Some(format!("the last update reads back as {read_back:?}"));
    }
    session.close();
    Ok(Some(match wrong {
        Some(wrong) => bad(&name, wrong),
        None => good(&name, format!("{count} operations in {} slices did what they should", slices.len())),
    }))
}

/// Whether rows that a session leaves behind are counted, and removed so that the data is what was loaded.
fn left(target: &dyn Target, spec: &DataSpec, work: &mut Work) -> Result<Option<Advice>, TargetError> {
    if !target.extras().churn {
        return Ok(None);
    }
    let mut session = session(target, spec, Drive::Client, Commit::Wait, Redo::Lite)?;
    for number in 0..OPS {
        let op = Op::Insert { key: ROWS + 1 + number, number: OPS + number };
        let done = session.execute(op).map_err(|error| failed(&error))?;
        work.note(op, done.rows);
    }
    session.close();
    let counted = target.own_rows(spec)?;
    let removed = target.sweep_up(spec)?;
    let after = target.own_rows(spec)?;
    target.spot_check(spec, 11)?;
    let words =
        format!("of {OPS} rows left behind {counted} were counted, {removed} removed, {after} stayed");
    Ok(Some(if (counted, removed, after) == (OPS, OPS, 0) {
        good("left", words)
    } else {
        bad("left", words)
    }))
}

/// Where rows go that are inserted after others have been deleted: whether each has a block to itself, and whether the
/// table takes emptied blocks again or grows with each insert. Nothing where a row's key decides its place.
fn growth(target: &dyn Target, spec: &DataSpec, work: &mut Work) -> Result<Option<Advice>, TargetError> {
    if !target.extras().churn || target.own_places(spec)?.is_none() {
        return Ok(None);
    }
    let mut session = session(target, spec, Drive::Client, Commit::Wait, Redo::Lite)?;
    let (mut all, mut shared) = (BTreeSet::new(), 0);
    for round in 0..ROUNDS {
        for number in 0..OPS {
            let op = Op::Insert { key: ROWS + 1 + number, number: OPS * (2 + round) + number };
            work.note(op, session.execute(op).map_err(|error| failed(&error))?.rows);
        }
        let places = target.own_places(spec)?.unwrap_or_default();
        let own: BTreeSet<String> = places.iter().cloned().collect();
        shared += places.len() - own.len();
        all.extend(own);
        for number in 0..OPS {
            let op = Op::Delete { key: ROWS + 1 + number };
            work.note(op, session.execute(op).map_err(|error| failed(&error))?.rows);
        }
    }
    session.close();
    Ok(Some(grown(all.len() as u64, shared as u64)))
}

/// What it means that rows of all rounds lay in so many `blocks`, and so many of them in one that held another, too.
fn grown(blocks: u64, shared: u64) -> Advice {
    let rows = OPS * ROUNDS;
    let words = format!(
        "{rows} rows were inserted and deleted again, {OPS} at a time: they lay in {blocks} blocks, and {shared} shared theirs with another"
    );
    if shared > 0 {
        let way_out = "one row per block does not hold for rows that runs insert: read what such runs say of blocks with that in mind";
        return advice("growth", Severity::Warn, words, way_out);
    }
    if blocks > 2 * OPS {
        let words = format!(
            "{words}; emptied blocks are not taken again at once, so the table grows under inserts and deletes"
        );
        let way_out = "give runs with insert_pct room to grow, and load anew after long ones; on PostgreSQL vacuum makes room";
        return advice("growth", Severity::Note, words, way_out);
    }
    good("growth", format!("{words}; emptied blocks are taken again"))
}

/// What the counters say of it, and which of them are missing.
fn counted(
    target: &dyn Target,
    spec: &DataSpec,
    before: &Snapshot,
    work: Work,
) -> Result<Vec<Advice>, TargetError> {
    let mut observer = target.observer(spec)?;
    let wanted = [
        (Counter::Commits, work.commits),
        (Counter::LogicalReads, work.rows_read + work.rows_updated),
        (Counter::RedoBytes, work.rows_updated),
    ];
    let moved = |after: &Snapshot, counter: Counter| -> Option<u64> {
        match (before.portable.get(&counter), after.portable.get(&counter)) {
            (Some(Reading::Value(from)), Some(Reading::Value(to))) => Some(to.saturating_sub(*from)),
            _ => None,
        }
    };
    let mut after = observer.snapshot()?;
    for _ in 0..LOOKS {
        if wanted.iter().all(|(counter, least)| moved(&after, *counter).is_none_or(|by| by >= *least)) {
            break;
        }
        std::thread::park_timeout(PAUSE);
        after = observer.snapshot()?;
    }
    let mut findings: Vec<Advice> = wanted
        .iter()
        .filter_map(|(counter, least)| {
            let (by, name) = (moved(&after, *counter)?, counter.name());
            let words = format!("{by} counted, and at least {least} must be");
            Some(if by >= *least { good(name, words) } else { bad(name, words) })
        })
        .collect();
    let absent: Vec<String> = Counter::ALL
        .into_iter()
        .filter_map(|counter| match after.portable.get(&counter) {
            Some(Reading::Absent(why)) => Some(format!("{}: {why}", counter.name())),
            Some(Reading::Value(_)) => None,
            None => Some(format!("{}: without a reason", counter.name())),
        })
        .collect();
    let changes = Counters::between(before, &after).changes;
    if let Some(change) = changes.first() {
        let mark = &change.name;
        let why = match change.kind {
            MarkKind::Epoch => "the server was restarted, or its statistics reset",
            MarkKind::Setting => "somebody changed a setting of the database",
            MarkKind::Shape => "somebody altered the tables",
        };
        findings.push(bad("changes", format!("{mark} changed meanwhile: {why}")));
    }
    findings.push(if absent.is_empty() {
        good("counters", format!("all {} portable counters have a value", Counter::ALL.len()))
    } else {
        let words = format!("{} of {} are absent: {}", absent.len(), Counter::ALL.len(), absent.join("; "));
        advice("counters", Severity::Note, words, "docs/engines says which are, and why")
    });
    Ok(findings)
}

/// Whether the rows' own versions agree with what was updated; nothing where an engine tells none.
fn versions(target: &dyn Target, spec: &DataSpec, work: Work) -> Option<Advice> {
    let mut sum = 0u64;
    match target.versions(spec, &mut |row| sum += u64::try_from(row.version).unwrap_or(0)) {
        Ok(()) if sum == work.rows_updated => Some(good(
            "versions",
            format!("the tables hold {sum} updates of rows, and as many were acknowledged"),
        )),
        Ok(()) => Some(bad(
            "versions",
            format!("the tables hold {sum} updates of rows, and {} were acknowledged", work.rows_updated),
        )),
        Err(error) if error.kind == TargetErrorKind::Unsupported => None,
        Err(error) => Some(bad("versions", error.message)),
    }
}

/// Whether waits can be sampled.
fn waits(target: &dyn Target) -> Advice {
    match target.sampler().and_then(|mut sampler| sampler.sample(&mut Vec::new(), &mut Vec::new())) {
        Ok(()) => good("waits", "waits can be sampled".to_owned()),
        Err(error) => {
            advice("waits", Severity::Note, format!("waits cannot be sampled: {}", error.message), error.hint)
        }
    }
}

fn dropped(target: &dyn Target) -> Advice {
    let gone = target.drop_all().and_then(|items| Ok((items.len(), target.survey()?)));
    match gone {
        Ok((items, DataState::Empty)) => {
            good("drop", format!("{items} objects were removed, and nothing is left"))
        }
        Ok((items, _)) => {
            bad("drop", format!("{items} objects were removed, and data of Dyno's is still there"))
        }
        Err(error) => advice("drop", Severity::Fail, error.message, "dyno drop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_from_blocks_that_are_taken_again() {
        assert_eq!(grown(OPS, 0).severity, Severity::Ok);
        assert_eq!(grown(OPS * ROUNDS, 0).severity, Severity::Note);
        assert_eq!(grown(OPS / 2, OPS).severity, Severity::Warn);
    }
}
