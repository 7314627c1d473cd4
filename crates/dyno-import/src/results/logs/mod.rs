//! Reads results of other tools from their output: sysbench, pgbench, HammerDB, go-tpc, BenchBase.

mod benchbase;
mod go_tpc;
mod hammerdb;
mod pgbench;
mod pgbench_log;
mod sysbench;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use dyno_record::Unit;
use jiff::Timestamp;

use crate::{Error, ImportFile};

/// The longest line in bytes; the rest of a longer one is ignored.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// One result of another tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogRun {
    /// Line number of the result.
    pub(super) line: u64,
    pub(super) sessions: Option<u32>,
    pub(super) seconds: Option<f64>,
    pub(super) started_at: Option<Timestamp>,
    /// Labels in the tool's own words.
    pub(super) labels: BTreeMap<String, String>,
    pub(super) metrics: BTreeMap<String, (f64, Unit)>,
}

impl LogRun {
    fn label(&mut self, name: &str, text: &str) {
        self.labels.insert(name.to_owned(), text.trim().to_owned());
    }

    fn metric(&mut self, name: &str, value: f64, unit: Unit) {
        if value.is_finite() {
            self.metrics.insert(name.to_owned(), (value, unit));
        }
    }
}

/// Parses the log of one tool line by line.
trait LogParser {
    /// Name of the tool that wrote the log: `sysbench`.
    fn tool(&self) -> &'static str;
    /// Takes the next line.
    ///
    /// # Errors
    /// The line belongs to this tool, but its result would be wrong.
    fn line(&mut self, number: u64, text: &str) -> Result<(), String>;
    /// The results in the log.
    ///
    /// # Errors
    /// The log belongs to this tool, but its result would be wrong.
    fn finish(self: Box<Self>) -> Result<Vec<LogRun>, String>;
}

/// The tool that wrote the file, and its results; `None` if no tool is recognized.
///
/// # Errors
/// The file cannot be read, or the log belongs to a tool but is incomplete.
pub fn read_log(source: &mut ImportFile) -> Result<Option<(&'static str, Vec<LogRun>)>, Error> {
    let name = source.name().to_owned();
    read_lines(source.reader()?)?.map_err(|problem| {
        Error::input(
            format!("{name}: {problem}"),
            "import a complete log; or map the columns of a table with --map",
        )
    })
}

type ToolRuns = Option<(&'static str, Vec<LogRun>)>;

fn read_lines(mut reader: impl BufRead) -> std::io::Result<Result<ToolRuns, String>> {
    let mut parsers: Vec<Box<dyn LogParser>> = vec![
        Box::new(sysbench::Sysbench::default()),
        Box::new(pgbench::Pgbench::default()),
        Box::new(pgbench_log::PgbenchLog::default()),
        Box::new(hammerdb::HammerDb::default()),
        Box::new(go_tpc::GoTpc::default()),
        Box::new(benchbase::BenchBase::default()),
    ];
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}').trim_end();
        for parser in &mut parsers {
            if let Err(problem) = parser.line(number, text) {
                return Ok(Err(format!("line {number}: {problem}")));
            }
        }
    }
    let mut read: ToolRuns = None;
    for parser in parsers {
        let tool = parser.tool();
        let runs = match parser.finish() {
            Ok(runs) => runs,
            Err(problem) => return Ok(Err(problem)),
        };
        match &read {
            _ if runs.is_empty() => {}
            None => read = Some((tool, runs)),
            Some((other, _)) => return Ok(Err(format!("results of {other} and of {tool} are in one file"))),
        }
    }
    Ok(Ok(read))
}

/// The first number in `text`, as these tools print it: `1034.80`.
fn number(text: &str) -> Option<f64> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let text = &text[start..];
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').parse().ok()
}

/// The text after `name` at the start of the line.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.trim_start().strip_prefix(name).map(str::trim)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
