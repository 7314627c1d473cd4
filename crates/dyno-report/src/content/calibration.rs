//! Tables of a machine's raw limits and of every step that measured them.

use dyno_analyze::number::{bytes, time_us};
use dyno_record::RawTest::{
    Commit, GroupCommit, LargeRead, MemoryCopy, MemoryRead, MemoryWrite, Mixed, RandomRead, RandomWrite,
    SequentialRead, SequentialWrite,
};
use dyno_record::{Calibration, RawFigure, RawTest, RunRecord, Status};

use crate::model::document::{PageSection, ReportDocument};
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// Maximum lines of a sentence.
const LINES: usize = 6;

/// Tests counted in requests, each with its block size; tests counted in MB/s are in [`BANDWIDTHS`].
const RATES: [RawTest; 5] = [RandomRead, Mixed, RandomWrite, Commit, GroupCommit];

const BANDWIDTHS: [RawTest; 6] =
    [LargeRead, SequentialRead, SequentialWrite, MemoryRead, MemoryWrite, MemoryCopy];

/// The machine's limits, a line for each kind of request.
fn limits(calibration: &Calibration) -> (Grid, Grid) {
    let within = format!("p99 ≤ {}", time_us(calibration.p99_limit_us));
    let mut rates = Grid::new(vec![
        GridHead::tight(""),
        GridHead::figures("most", "/s")
            .explained("the highest rate of requests or commits, whatever their latency"),
        GridHead::figures("at once", ""),
        GridHead::figures("mean", ""),
        GridHead::figures("p99", ""),
        GridHead::figures(&within, "/s")
            .explained("the highest rate of the steps whose 99th percentile is within the limit"),
        GridHead::figures("at once", ""),
    ]);
    for test in RATES {
        for block in calibration.blocks(test) {
            let name = test.words(Some(block));
            let Some(most) = calibration.most_per_s(test, block) else {
                rates.row(vec![name.into(), "refused".into()]);
                continue;
            };
            let within_limit = calibration.most_within(test, block);
            rates.row(vec![
                name.into(),
                GridCell::figure(most.per_s),
                GridCell::count(u64::from(most.in_flight)),
                GridCell::time_us(most.mean_us),
                GridCell::time_us(most.p99_us),
                within_limit.map_or_else(|| "none".into(), |kept| GridCell::figure(kept.per_s)),
                GridCell::count(within_limit.map(|kept| u64::from(kept.in_flight))).or_empty(),
            ]);
        }
    }
    let mut bandwidths = Grid::new(vec![
        GridHead::tight(""),
        GridHead::figures("by one", "MB/s")
            .explained("one process with one request at a time, or one thread"),
        GridHead::figures("most", "MB/s").explained("by all, MB are 10⁶ bytes"),
        GridHead::figures("by", ""),
        GridHead::figures("median", "MB/s").explained("of the repeats of the fastest step; memory only"),
    ]);
    for test in
        BANDWIDTHS.into_iter().filter(|test| calibration.figures.iter().any(|figure| figure.test == *test))
    {
        let block = calibration
            .figures
            .iter()
            .find(|figure| figure.test == test)
            .and_then(|figure| figure.block_bytes);
        let name = test.words(block);
        let Some(most) = calibration.most_mb_per_s(test) else {
            bandwidths.row(vec![name.into(), "refused".into()]);
            continue;
        };
        let serial = calibration.of(test).find(|figure| figure.in_flight == 1);
        bandwidths.row(vec![
            name.into(),
            GridCell::figure(serial.and_then(|one| one.mb_per_s)),
            GridCell::figure(most.mb_per_s),
            GridCell::count(u64::from(most.in_flight)),
            GridCell::figure(most.median_mb_per_s).or_empty(),
        ]);
    }
    (rates, bandwidths)
}

fn steps(calibration: &Calibration) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("step"),
        GridHead::figures("processes", ""),
        GridHead::figures("at once", ""),
        GridHead::figures("requests", "/s"),
        GridHead::figures("", "MB/s"),
        GridHead::figures("mean", ""),
        GridHead::figures("p95", ""),
        GridHead::figures("p99", ""),
        GridHead::figures("device", "%")
            .explained("bytes that the device counted, as a share of the bytes requested"),
        GridHead::text("refused"),
    ]);
    for step in &calibration.figures {
        grid.row(vec![
            step.test.words(step.block_bytes).into(),
            GridCell::count(u64::from(step.processes)),
            GridCell::count(u64::from(step.in_flight)),
            GridCell::figure(step.per_s).or_empty(),
            GridCell::figure(step.mb_per_s).or_empty(),
            GridCell::time_us(step.mean_us).or_empty(),
            GridCell::time_us(step.p95_us).or_empty(),
            GridCell::time_us(step.p99_us).or_empty(),
            GridCell::fixed(step.device_pct, 0).or_empty(),
            step.refused.as_deref().unwrap_or_default().into(),
        ]);
    }
    grid
}

/// Facts of the machine and the device, one per line.
fn platform_lines(record: &RunRecord, calibration: &Calibration) -> Vec<String> {
    let host = record.host();
    let fact = |name: &str| host.facts.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let mut lines = vec![format!(
        "{}: {} × {}, {} of memory, {}, {}",
        host.name,
        host.cpus,
        host.cpu_model,
        bytes(host.memory_bytes),
        host.os,
        host.kernel
    )];
    let layers = fact("place.data.layers").or(calibration.device.as_deref()).unwrap_or_default();
    for device in layers.split(' ').filter(|device| !device.is_empty()) {
        let device_fact = |name: &str| fact(&format!("device.{device}.{name}"));
        let size = device_fact("size_bytes").and_then(|size| size.parse().ok()).map(bytes);
        let turns =
            device_fact("rotational").map(|turns| if turns == "1" { "rotating" } else { "not rotating" });
        let scheduler = device_fact("scheduler").map(|scheduler| format!("scheduler {scheduler}"));
        let cache = device_fact("write_cache").map(|cache| format!("write cache {cache}"));
        let parts =
            [device_fact("model").map(str::to_owned), size, turns.map(str::to_owned), scheduler, cache];
        lines
            .push(format!("device {device}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    }
    let mount = host.mounts.get("data").map_or("mount unknown", String::as_str);
    lines.push(format!("folder {}: {mount}", calibration.folder));
    if let Some(tool) = &calibration.tool {
        lines.push(format!(
            "a file of {}, read and written past the page cache by {tool}",
            bytes(calibration.file_bytes)
        ));
    }
    lines
}

/// What a reader must know: missing parts, refused figures, and notes.
fn notes(record: &RunRecord, calibration: &Calibration) -> Vec<String> {
    let mut lines = Vec::new();
    if record.status == Status::Interrupted {
        lines.push("the calibration was stopped before its end".to_owned());
    }
    if calibration.quick {
        lines.push("quick mode has few, short steps: the real limits may be higher".to_owned());
    }
    lines.extend(calibration.left_out.iter().map(|why| format!("not measured: {why}")));
    let mut grouped_notes: Vec<(String, Vec<&RawFigure>)> = Vec::new();
    for figure in &calibration.figures {
        let refused = figure.refused.iter().map(|why| format!("refused: {why}"));
        for words in refused.chain(figure.notes.iter().cloned()) {
            match grouped_notes.iter_mut().find(|(known, _)| *known == words) {
                Some((_, own)) => own.push(figure),
                None => grouped_notes.push((words, vec![figure])),
            }
        }
    }
    lines.extend(grouped_notes.into_iter().map(|(words, of)| {
        let first = of[0].test.words(of[0].block_bytes);
        match of.len() {
            1 => format!("{first}, {} at once: {words}", of[0].in_flight),
            count => format!("{first} and {} more steps: {words}", count - 1),
        }
    }));
    lines
}

/// A calibration for a terminal; `None` for any other kind of record.
pub fn calibration_text(record: &RunRecord, style: &Style) -> Option<String> {
    let raw_limits = record.calibration.as_deref()?;
    let mut out = format!("{}\n", style.paint(Paint::Head, &clean(&format!("calibration {}", record.id))));
    let sentences = |out: &mut String, lines: &[String]| {
        for line in lines.iter().flat_map(|line| wrap(&clean(line), style.columns() - 2, LINES)) {
            out.push_str(&format!("  {line}\n"));
        }
    };
    sentences(&mut out, &platform_lines(record, raw_limits));
    let (rates, bandwidths) = limits(raw_limits);
    for grid in [&rates, &bandwidths].into_iter().filter(|grid| !grid.rows.is_empty()) {
        out.push('\n');
        out.push_str(&grid.render(style));
    }
    let notes = notes(record, raw_limits);
    if !notes.is_empty() {
        out.push('\n');
        sentences(&mut out, &notes);
    }
    Some(out)
}

/// A calibration as a page; `None` for any other kind of record.
pub(crate) fn calibration_document(record: &RunRecord, made_at: &str) -> Option<ReportDocument> {
    let raw_limits = record.calibration.as_deref()?;
    let (rates, bandwidths) = limits(raw_limits);
    let grids = [("Requests and commits", rates), ("Bandwidth", bandwidths)];
    let grids = grids.into_iter().filter(|(_, grid)| !grid.rows.is_empty());
    let limits = PageSection {
        title: "Limits".into(),
        lines: notes(record, raw_limits),
        grids: grids.map(|(title, grid)| (title.to_owned(), grid)).collect(),
        ..PageSection::default()
    };
    let platform = PageSection {
        title: "Measured machine".into(),
        lines: platform_lines(record, raw_limits),
        ..PageSection::default()
    };
    let steps = PageSection {
        title: "Steps".into(),
        grids: vec![(String::new(), steps(raw_limits))],
        ..PageSection::default()
    };
    let day = |time: &str| time.get(..19).unwrap_or(time).replace('T', " ");
    let about = format!(
        "calibration {}, measured {} UTC; page made {}",
        record.id,
        day(&record.started_at),
        day(made_at)
    );
    let sections = vec![limits, platform, steps];
    Some(ReportDocument { title: "Raw limits of a machine".into(), about, sections })
}
