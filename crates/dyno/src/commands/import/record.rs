//! From a line of a table to run records: one for the line, and one for each target that has figures of its own.

use std::collections::BTreeMap;

use anyhow::Context as _;
use dyno_plan::engine::IMPORTED;
use dyno_plan::{Plan, PlanSource, TargetUrl};
use dyno_record::{
    AuditCheck, CheckStatus, Gate, Identity, Imported, Kind, Metric, OpStats, RunRecord, Status, TargetFacts,
    Unit, Window, new_run_id, rfc3339,
};
use jiff::{SignedDuration, Timestamp};

use super::csv::Csv;
use super::map::{Field, Mapping};
use super::source::Source;
use super::strict::CsvError;
use crate::exit::usage;

/// What a cell holds where the table has no figure.
const NO_FIGURE: [&str; 6] = ["", "-", "–", "n/a", "N/A", "NA"];

/// What holds for all lines.
pub(super) struct Common<'c> {
    pub(super) file: String,
    /// The file as errors name it.
    pub(super) path: String,
    pub(super) sets: &'c [String],
    pub(super) variant: Option<&'c str>,
    pub(super) tags: &'c [String],
    pub(super) product: Option<&'c str>,
    pub(super) now: Timestamp,
    /// The same as records spell it.
    pub(super) imported_at: String,
    /// Sixteen random bits that the names of the records begin with.
    pub(super) salt: u16,
}

/// The figures of one record to be.
#[derive(Default)]
struct Figures {
    ops: Option<f64>,
    metrics: BTreeMap<String, Metric>,
}

/// One line, read.
#[derive(Default)]
struct Line {
    sessions: Option<u32>,
    seconds: Option<f64>,
    variant: Option<String>,
    tags: Vec<String>,
    started_at: Option<Timestamp>,
    sets: Vec<String>,
    labels: BTreeMap<String, String>,
    whole: Figures,
    targets: BTreeMap<String, Figures>,
}

/// The lines of a table as records.
pub(super) struct Lines<'t> {
    pub(super) source: &'t mut Source,
    pub(super) maps: &'t [Mapping],
    pub(super) common: &'t Common<'t>,
    pub(super) plans: Plans,
}

impl Lines<'_> {
    /// Hands the records of each line to `take`, the parts of a line behind its whole. The same file gives the same records
    /// each time.
    pub(super) fn each(
        &mut self,
        mut take: impl FnMut(&mut Vec<RunRecord>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let common = self.common;
        let wrong = |error: CsvError| {
            usage(format!("{}: {error}", common.path), "a table of comma-separated values is needed")
        };
        let mut table = Csv::open(self.source.reader()?).map_err(wrong)?;
        let columns = columns(&table.columns, self.maps, common)?;
        let mut before = 0;
        while let Some((number, cells)) = table.next().map_err(wrong)? {
            let mut line = Line::default();
            for &(at, map) in &columns {
                read(&mut line, map, cells[at], number, common)?;
            }
            let frame = frame(&mut line, number, common, &mut self.plans)?;
            let mut records = build(before, line, frame, common)?;
            before += records.len();
            if !records.is_empty() {
                take(&mut records)?;
            }
        }
        Ok(())
    }
}

/// Where each mapped column stands.
fn columns<'m>(
    names: &[String],
    maps: &'m [Mapping],
    common: &Common<'_>,
) -> anyhow::Result<Vec<(usize, &'m Mapping)>> {
    if maps.is_empty() {
        return Err(usage(
            "no --map says what the columns are",
            format!("the columns are {}; see `dyno import --help`", names.join(", ")),
        ));
    }
    let place = |map: &'m Mapping| match names.iter().position(|column| *column == map.column) {
        Some(at) => Ok((at, map)),
        None => Err(usage(
            format!("{} has no column {:?}", common.file, map.column),
            format!("its columns are {}", names.join(", ")),
        )),
    };
    maps.iter().map(place).collect()
}

fn read(line: &mut Line, map: &Mapping, cell: &str, number: u64, common: &Common<'_>) -> anyhow::Result<()> {
    take(line, map, cell).map_err(|problem| {
        let place = format!("{} line {number}, column {:?}", common.file, map.column);
        usage(
            format!("{place}: {cell:?} {problem}"),
            "mend the cell, or leave it empty where there is no figure",
        )
    })
}

/// Takes a cell into the line; the error ends a sentence that begins with the cell.
fn take(line: &mut Line, map: &Mapping, cell: &str) -> Result<(), String> {
    if NO_FIGURE.contains(&cell) {
        return Ok(());
    }
    let number = || match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("is no number".to_owned()),
    };
    match &map.field {
        Field::Sessions => {
            line.sessions = Some(cell.parse().map_err(|_| "is no number of sessions".to_owned())?);
        }
        Field::Seconds(factor) => line.seconds = Some(number()? * factor),
        Field::Variant => line.variant = Some(cell.to_owned()),
        Field::Tag => line.tags.push(cell.to_owned()),
        Field::StartedAt => line.started_at = Some(moment(cell)?),
        Field::Key(path) => line.sets.push(format!("{path}={cell}")),
        Field::Label => {
            line.labels.insert(map.column.clone(), cell.to_owned());
        }
        Field::Ops => figures(line, map).ops = Some(number()?),
        Field::Metric { name, unit, factor } => {
            // Multiplying by 1 is exact, so figures stay as printed.
            let metric = Metric::Value { value: number()? * factor, unit: *unit };
            figures(line, map).metrics.insert(name.clone(), metric);
        }
    }
    Ok(())
}

fn figures<'l>(line: &'l mut Line, map: &Mapping) -> &'l mut Figures {
    match &map.target {
        Some(target) => line.targets.entry(target.clone()).or_default(),
        None => &mut line.whole,
    }
}

/// A moment: RFC 3339, or a date alone.
fn moment(cell: &str) -> Result<Timestamp, String> {
    let full = if cell.len() == 10 { format!("{cell}T00:00:00Z") } else { cell.to_owned() };
    full.parse().map_err(|_| "is no moment: write 2026-03-21T14:25:01Z or 2026-03-21".to_owned())
}

/// The records of one line, before which there were `index`.
fn build(index: usize, line: Line, frame: RunRecord, common: &Common<'_>) -> anyhow::Result<Vec<RunRecord>> {
    let started = line.started_at.unwrap_or(common.now);
    let seconds = frame.window.as_ref().map_or(0.0, |window| window.seconds);
    let length = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    // Lines of one table stay in their order.
    let at = |index: usize| started + SignedDuration::from_micros(index as i64);
    let whole_id = name(at(index), index, common.salt);
    let has_whole = line.whole.ops.is_some() || !line.whole.metrics.is_empty();
    let whole = has_whole.then_some((index, None, line.whole));
    let parts =
        (index + 1..).zip(line.targets).map(|(index, (target, figures))| (index, Some(target), figures));
    let mut all = whole.into_iter().chain(parts).peekable();
    let (mut records, mut frame) = (Vec::with_capacity(1), Some(frame));
    while let Some((index, target, figures)) = all.next() {
        // Most lines have one record: the last takes the frame itself.
        let own = if all.peek().is_some() { frame.clone() } else { frame.take() };
        let mut record = own.expect("only the last takes it");
        let at = at(index);
        record.started_at = rfc3339(at);
        record.ended_at = match at.checked_add(length) {
            Ok(ended) if !length.is_zero() => rfc3339(ended),
            _ => record.started_at.clone(),
        };
        match target {
            None => record.id.clone_from(&whole_id),
            Some(target) => {
                record.id = name(at, index, common.salt);
                record.one_target_of = Some(whole_id.clone());
                for facts in &mut record.targets {
                    facts.url = format!("{}?target={target}", facts.url);
                }
            }
        }
        put_figures(&mut record, figures)?;
        records.push(record);
    }
    Ok(records)
}

/// The name of record `index`. A name has sixteen bits for each second, and a table may have more lines.
fn name(at: Timestamp, index: usize, salt: u16) -> String {
    let at = at.checked_add(SignedDuration::from_secs((index >> 16) as i64)).unwrap_or(at);
    new_run_id(at, salt.wrapping_add(index as u16))
}

fn put_figures(record: &mut RunRecord, figures: Figures) -> anyhow::Result<()> {
    record.metrics = figures.metrics;
    if let Some(ops) = figures.ops {
        let seconds = record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0);
        let seconds = seconds.ok_or_else(|| {
            usage(
                "a column is mapped to ops, the operations of a whole run, but nothing says how long the run was",
                "map a column to seconds, or write --set run.time=180s",
            )
        })?;
        let rate = ops / seconds;
        let all = OpStats { count: ops.max(0.0).round() as u64, rate_per_s: rate, ..OpStats::default() };
        record.ops.insert("all".into(), all);
        record.metrics.insert("ops_per_s".into(), Metric::Value { value: rate, unit: Unit::PerSecond });
    }
    Ok(())
}

/// Plans of the lines so far, by what was set: most lines have one that another has.
#[derive(Default)]
pub(super) struct Plans(BTreeMap<Vec<String>, Plan>);

impl Plans {
    fn of(&mut self, sets: Vec<String>, common: &Common<'_>) -> anyhow::Result<Plan> {
        if let Some(plan) = self.0.get(&sets) {
            return Ok(plan.clone());
        }
        // A plan needs a database; which one is set by the caller.
        let target = Some(IMPORTED.0[0].template.to_owned());
        let mut plan =
            dyno_plan::read(&PlanSource { sets: sets.clone(), target, ..PlanSource::of(IMPORTED) })?;
        plan.target.url =
            TargetUrl { scheme: "imported".into(), path: common.file.clone(), ..TargetUrl::default() };
        // Whoever stores the records relies on it.
        serde_json::from_str::<Plan>(&serde_json::to_string(&plan)?)
            .with_context(|| format!("the plan of a record of {} cannot be read back", common.file))?;
        // A table may set another value in each line: then remembering them is of no use.
        if self.0.len() < 1_000 {
            self.0.insert(sets, plan.clone());
        }
        Ok(plan)
    }
}

/// The record of a line without its figures and names; takes what the line says beside figures.
fn frame(line: &mut Line, number: u64, common: &Common<'_>, plans: &mut Plans) -> anyhow::Result<RunRecord> {
    let mut sets: Vec<String> = common.sets.iter().chain(&line.sets).cloned().collect();
    if let Some(sessions) = line.sessions {
        sets.push(format!("run.sessions_per_schema={sessions}"));
    }
    let known = sets.iter().filter_map(|set| Some(set.split_once('=')?.0.trim().to_owned())).collect();
    let plan = plans.of(sets, common)?;
    let imported = Imported {
        format: "csv".into(),
        file: common.file.clone(),
        line: Some(number),
        imported_at: common.imported_at.clone(),
        undated: line.started_at.is_none(),
        known,
        labels: std::mem::take(&mut line.labels),
        reported: None,
    };
    let told = plan.run.time.filter(|_| imported.knows("run.time")).map(|time| time.0.as_secs_f64());
    let seconds = line.seconds.or(told);
    let target = TargetFacts {
        url: plan.target.url.to_string(),
        engine: "imported".into(),
        identity: Identity { product: common.product.unwrap_or_default().to_owned(), ..Identity::default() },
        ..TargetFacts::default()
    };
    let not_audited = AuditCheck {
        check: "imported".into(),
        status: CheckStatus::Skipped,
        expected: String::new(),
        observed: String::new(),
        detail: format!("not audited: imported from {} line {number}", common.file),
    };
    Ok(RunRecord {
        kind: Kind::Import,
        dyno_version: env!("CARGO_PKG_VERSION").into(),
        variant: line.variant.take().or_else(|| common.variant.map(str::to_owned)),
        tags: common.tags.iter().cloned().chain(line.tags.drain(..)).collect(),
        imported: Some(imported),
        targets: vec![target],
        gate: Gate { sessions: line.sessions.unwrap_or(0), ..Gate::default() },
        window: seconds.map(|seconds| Window { seconds, ..Window::default() }),
        audit: vec![not_audited],
        ..RunRecord::blank(Status::Imported, plan)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, Seek, SeekFrom};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// What holds for the lines of `file`.
    fn common(file: &str) -> Common<'static> {
        Common {
            file: file.into(),
            path: file.into(),
            sets: &[],
            variant: None,
            tags: &[],
            product: None,
            now: Timestamp::UNIX_EPOCH,
            imported_at: rfc3339(Timestamp::UNIX_EPOCH),
            salt: 0,
        }
    }

    /// A file that counts the bytes read from it.
    struct Counted(Cursor<String>, Arc<AtomicUsize>);

    impl Read for Counted {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let read = self.0.read(out)?;
            self.1.fetch_add(read, Ordering::Relaxed);
            Ok(read)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }

    /// However long a table is, each line is read once for each time the table is gone through, a plan is made for each
    /// setting, and one line is held.
    #[test]
    fn a_line_of_a_long_table_takes_as_much_work_as_one_of_a_short() {
        let maps =
            ["s=sessions", "ops=ops_per_s", "reads=logical_reads_per_s@pdb1"].map(|map| map.parse().unwrap());
        for count in [100, 2_000] {
            let lines: String =
                (0..count).map(|line| format!("{},{},7\n", 1 + line % 4, 100 + line)).collect();
            let text = format!("s,ops,reads\n{lines}");
            let (bytes, read) = (text.len(), Arc::new(AtomicUsize::new(0)));
            let mut source = Source::over(Counted(Cursor::new(text), read.clone()));
            let common = common("t.csv");
            let mut table =
                Lines { source: &mut source, maps: &maps, common: &common, plans: Plans::default() };
            let mut records = 0;
            for _ in 0..2 {
                table
                    .each(|line| {
                        assert_eq!(line.len(), 2);
                        records += line.len();
                        Ok(())
                    })
                    .unwrap();
            }
            assert_eq!(records, 2 * 2 * count);
            assert_eq!(read.load(Ordering::Relaxed), 2 * bytes);
            assert_eq!(table.plans.0.len(), 4);
        }
    }

    #[test]
    fn records_of_a_line_share_all_but_names_moments_and_figures() {
        let maps =
            ["ops=ops_per_s", "a=logical_reads_per_s@a", "b=logical_reads_per_s@b", "t=seconds", "l=label"]
                .map(|map| map.parse().unwrap());
        let mut source = Source::over(Cursor::new("ops,a,b,t,l\n1,2,3,10,x\n,5,,,\n".to_owned()));
        let common = common("t.csv");
        let mut lines = Lines { source: &mut source, maps: &maps, common: &common, plans: Plans::default() };
        let mut all = Vec::new();
        lines
            .each(|line| {
                all.append(line);
                Ok(())
            })
            .unwrap();
        let [whole, a, b, alone] = all.as_slice() else { panic!("{} records", all.len()) };
        assert_eq!(whole.one_target_of, None);
        for (part, url) in [(a, "imported:///t.csv?target=a"), (b, "imported:///t.csv?target=b")] {
            assert_eq!(part.one_target_of.as_deref(), Some(whole.id.as_str()));
            assert_eq!(part.targets[0].url, url);
            assert_eq!((&part.plan, &part.imported), (&whole.plan, &whole.imported));
        }
        assert_eq!(whole.ended_at, "1970-01-01T00:00:10.000000Z");
        assert_eq!(b.started_at, "1970-01-01T00:00:00.000002Z");
        assert_eq!(alone.started_at, alone.ended_at);
        let names: std::collections::BTreeSet<&String> = all.iter().map(|record| &record.id).collect();
        assert_eq!(names.len(), 4);
    }

    /// The plan is read back once for all lines that have it; what a file may be called must not break that.
    #[test]
    fn no_name_of_a_file_makes_a_record_that_cannot_be_read() {
        for file in
            ["a b.csv", "a?b=c&d.csv", "ä#%41:@[x]//.csv", "sqlite:x.csv", "..", "\u{1b}[31m.csv", "\"\\.csv"]
        {
            let maps = ["ops=ops_per_s".parse().unwrap()];
            let mut source = Source::over(Cursor::new("ops\n1\n".to_owned()));
            let common = common(file);
            let mut lines =
                Lines { source: &mut source, maps: &maps, common: &common, plans: Plans::default() };
            let mut packer = dyno_record::Packer::new();
            lines
                .each(|line| {
                    // Packing reads back, too.
                    packer.pack(&line[0]).unwrap();
                    packer.pack_known_plan(&line[0]).unwrap();
                    Ok(())
                })
                .unwrap();
        }
    }

    #[test]
    fn more_lines_than_a_second_has_names_have_names_of_their_own() {
        let names: std::collections::BTreeSet<String> =
            (0..200_000).map(|index| name(Timestamp::UNIX_EPOCH, index, 0x7f3a)).collect();
        assert_eq!(names.len(), 200_000);
    }
}
