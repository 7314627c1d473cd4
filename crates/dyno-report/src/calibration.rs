//! Raw limits of a machine as tables: what it gives at most, and every step of the way there.

use dyno_analyze::number::{ABSENT, bytes, figure, fixed, time_us};
use dyno_record::RawTest::{
    Commit, GroupCommit, LargeRead, MemoryCopy, MemoryRead, MemoryWrite, Mixed, RandomRead, RandomWrite,
    SequentialRead, SequentialWrite,
};
use dyno_record::{Calibration, RawFigure, RawTest, RunRecord, Status};

use crate::grid::{Cell, Grid, Head};
use crate::html::{Frame, Section, pages_in};
use crate::style::{Paint, Style};
use crate::table::Table;
use crate::text::{clean, wrap};

/// Lines of a sentence at most.
const LINES: usize = 6;

/// What is counted as requests, each with its blocks; what is counted in MB/s is in [`BANDWIDTHS`].
const RATES: [RawTest; 5] = [RandomRead, Mixed, RandomWrite, Commit, GroupCommit];

/// What is counted in bytes.
const BANDWIDTHS: [RawTest; 6] =
    [LargeRead, SequentialRead, SequentialWrite, MemoryRead, MemoryWrite, MemoryCopy];

/// What the machine gives at most, a line for each kind of request.
fn limits(own: &Calibration) -> (Grid, Grid) {
    let within = format!("p99 ≤ {}", time_us(own.p99_limit_us));
    let mut rates = Grid::new(vec![
        Head::tight(""),
        Head::figures("most", "/s")
            .explained("the most requests or commits per second, whatever their latency"),
        Head::figures("at once", ""),
        Head::figures("mean", ""),
        Head::figures("p99", ""),
        Head::figures(&within, "/s")
            .explained("the most of those steps whose 99th percentile keeps the bound"),
        Head::figures("at once", ""),
    ]);
    for test in RATES {
        for block in own.blocks(test) {
            let name = test.words(Some(block));
            let Some(most) = own.most_per_s(test, block) else {
                rates.row(texts(&[&name, "refused"]));
                continue;
            };
            let kept = own.most_within(test, block);
            rates.row(texts(&[
                &name,
                &optional(most.per_s),
                &most.in_flight.to_string(),
                &time(most.mean_us),
                &time(most.p99_us),
                &kept.map_or_else(|| "none".to_owned(), |kept| optional(kept.per_s)),
                &kept.map_or_else(String::new, |kept| kept.in_flight.to_string()),
            ]));
        }
    }
    let mut bandwidths = Grid::new(vec![
        Head::tight(""),
        Head::figures("by one", "MB/s").explained("one process with one request at a time, or one thread"),
        Head::figures("most", "MB/s").explained("by all, MB are 10⁶ bytes"),
        Head::figures("by", ""),
        Head::figures("median", "MB/s").explained("of the repeats at the most; of memory only"),
    ]);
    for test in BANDWIDTHS.into_iter().filter(|test| own.figures.iter().any(|figure| figure.test == *test)) {
        let block =
            own.figures.iter().find(|figure| figure.test == test).and_then(|figure| figure.block_bytes);
        let name = test.words(block);
        let Some(most) = own.most_mb_per_s(test) else {
            bandwidths.row(texts(&[&name, "refused"]));
            continue;
        };
        let one = own.of(test).find(|figure| figure.in_flight == 1);
        bandwidths.row(texts(&[
            &name,
            &one.map_or_else(|| ABSENT.to_owned(), |one| optional(one.mb_per_s)),
            &optional(most.mb_per_s),
            &most.in_flight.to_string(),
            &most.median_mb_per_s.map_or_else(String::new, figure),
        ]));
    }
    (rates, bandwidths)
}

/// Every step.
fn steps(own: &Calibration) -> Grid {
    let mut grid = Grid::new(vec![
        Head::tight("step"),
        Head::figures("processes", ""),
        Head::figures("at once", ""),
        Head::figures("requests", "/s"),
        Head::figures("", "MB/s"),
        Head::figures("mean", ""),
        Head::figures("p95", ""),
        Head::figures("p99", ""),
        Head::figures("device", "%").explained("what the device counted of the bytes that were asked for"),
        Head::text("refused"),
    ]);
    for step in &own.figures {
        grid.row(texts(&[
            &step.test.words(step.block_bytes),
            &step.processes.to_string(),
            &step.in_flight.to_string(),
            &step.per_s.map_or_else(String::new, figure),
            &step.mb_per_s.map_or_else(String::new, figure),
            &step.mean_us.map_or_else(String::new, time_us),
            &step.p95_us.map_or_else(String::new, time_us),
            &step.p99_us.map_or_else(String::new, time_us),
            &step.device_pct.map_or_else(String::new, |pct| fixed(pct, 0)),
            step.refused.as_deref().unwrap_or_default(),
        ]));
    }
    grid
}

fn texts(cells: &[&str]) -> Vec<Cell> {
    cells.iter().map(|text| Cell::text(text)).collect()
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), figure)
}

fn time(us: Option<f64>) -> String {
    us.map_or_else(|| ABSENT.to_owned(), time_us)
}

/// Facts of the machine and of the device, one a line.
fn about(record: &RunRecord, own: &Calibration) -> Vec<String> {
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
    let layers = fact("place.data.layers").or(own.device.as_deref()).unwrap_or_default();
    for device in layers.split(' ').filter(|device| !device.is_empty()) {
        let of = |name: &str| fact(&format!("device.{device}.{name}"));
        let size = of("size_bytes").and_then(|size| size.parse().ok()).map(bytes);
        let turns = of("rotational").map(|turns| if turns == "1" { "rotating" } else { "not rotating" });
        let scheduler = of("scheduler").map(|scheduler| format!("scheduler {scheduler}"));
        let cache = of("write_cache").map(|cache| format!("write cache {cache}"));
        let parts = [of("model").map(str::to_owned), size, turns.map(str::to_owned), scheduler, cache];
        lines
            .push(format!("device {device}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    }
    let mount = host.mounts.get("data").map_or("its mount is not known", String::as_str);
    lines.push(format!("folder {}: {mount}", own.folder));
    if let Some(tool) = &own.tool {
        lines.push(format!(
            "a file of {}, read and written past the page cache by {tool}",
            bytes(own.file_bytes)
        ));
    }
    lines
}

/// What a reader has to know: what is not here, what is refused, and the notes.
fn notes(record: &RunRecord, own: &Calibration) -> Vec<String> {
    let mut lines = Vec::new();
    if record.status == Status::Interrupted {
        lines.push("it was stopped before its end".to_owned());
    }
    if own.quick {
        lines.push("a quick look has few and short steps: the most may be more".to_owned());
    }
    lines.extend(own.left_out.iter().map(|why| format!("not measured: {why}")));
    let mut said: Vec<(String, Vec<&RawFigure>)> = Vec::new();
    for figure in &own.figures {
        let refused = figure.refused.iter().map(|why| format!("refused: {why}"));
        for words in refused.chain(figure.notes.iter().cloned()) {
            match said.iter_mut().find(|(known, _)| *known == words) {
                Some((_, own)) => own.push(figure),
                None => said.push((words, vec![figure])),
            }
        }
    }
    lines.extend(said.into_iter().map(|(words, of)| {
        let first = of[0].test.words(of[0].block_bytes);
        match of.len() {
            1 => format!("{first}, {} at once: {words}", of[0].in_flight),
            count => format!("{first} and {} more steps: {words}", count - 1),
        }
    }));
    lines
}

/// A calibration for a terminal; nothing where the record is of something else.
pub fn calibration_text(record: &RunRecord, style: &Style) -> Option<String> {
    let own = record.calibration.as_deref()?;
    let mut out = format!("{}\n", style.paint(Paint::Head, &clean(&format!("calibration {}", record.id))));
    let sentences = |out: &mut String, lines: &[String]| {
        for line in lines.iter().flat_map(|line| wrap(&clean(line), style.columns() - 2, LINES)) {
            out.push_str(&format!("  {line}\n"));
        }
    };
    sentences(&mut out, &about(record, own));
    let (rates, bandwidths) = limits(own);
    for grid in [&rates, &bandwidths].into_iter().filter(|grid| !grid.rows.is_empty()) {
        out.push('\n');
        out.push_str(&Table::from(grid).render(style));
    }
    let notes = notes(record, own);
    if !notes.is_empty() {
        out.push('\n');
        sentences(&mut out, &notes);
    }
    Some(out)
}

/// A calibration as a page; nothing where the record is of something else.
pub fn calibration_page(frame: Option<&Frame>, record: &RunRecord, made_at: &str) -> Option<String> {
    let own = record.calibration.as_deref()?;
    let (rates, bandwidths) = limits(own);
    let grids = [("Requests and commits", rates), ("Bandwidth", bandwidths)];
    let grids = grids.into_iter().filter(|(_, grid)| !grid.rows.is_empty());
    let limits = Section {
        title: "Limits".into(),
        lines: notes(record, own),
        grids: grids.map(|(title, grid)| (title.to_owned(), grid)).collect(),
        ..Section::default()
    };
    let platform =
        Section { title: "What was measured".into(), lines: about(record, own), ..Section::default() };
    let steps =
        Section { title: "Steps".into(), grids: vec![(String::new(), steps(own))], ..Section::default() };
    let day = |time: &str| time.get(..19).unwrap_or(time).replace('T', " ");
    let made = format!(
        "calibration {}, measured {} UTC; page made {}",
        record.id,
        day(&record.started_at),
        day(made_at)
    );
    Some(pages_in(frame, "Raw limits of a machine", &made, &[limits, platform, steps]))
}
