//! Measures how fast reports are read on one processor, and where the time goes:
//!
//! ```text
//! cargo run --release -p dyno-awr --example reading -- awrrpt_1_100_101.html
//! cargo run --release -p dyno-awr --example reading
//! ```
//!
//! Without files it reads a report that it generates. Each step is repeated and timed for half a
//! second, in processor time, so other programs on the host have little effect.

// Printing is what this program is for.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::time::{Duration, Instant};

use dyno_awr::{AwrJsonOptions, AwrReport};

/// How long each step is repeated.
const STEP: Duration = Duration::from_millis(500);

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<String> = match files.is_empty() {
        true => vec![made()],
        false => files.iter().filter_map(|file| text(file)).collect(),
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} reports, {:.1} MB", texts.len(), bytes as f64 / 1e6);
    let reports: Vec<AwrReport> =
        texts.iter().filter_map(|text| dyno_awr::read_report(text, "x", 1).ok()).collect();
    let cells: usize = texts.iter().map(|text| dyno_awr::cells(text)).sum();
    println!("{cells} cells\n");
    println!("{:<34} {:>10} {:>10}", "step", "ms", "MB/s");
    let tables = step("text to tables", bytes, || texts.iter().map(|text| dyno_awr::cells(text)).sum());
    let read = step("text to figures (tables included)", bytes, || {
        texts
            .iter()
            .filter_map(|text| dyno_awr::read_report(text, "x", 1).ok())
            .map(|r| r.figures.len())
            .sum()
    });
    let json = step("figures to JSON", bytes, || {
        let spelled =
            |report: &AwrReport| serde_json::to_vec(&dyno_awr::to_json(report, AwrJsonOptions::default()));
        reports.iter().filter_map(|report| spelled(report).ok()).map(|text| text.len()).sum()
    });
    let of = |part: Duration| 100.0 * part.as_secs_f64() / (read + json).as_secs_f64();
    println!(
        "\nof text to JSON: tables {:.0} %, sections {:.0} %, JSON {:.0} %; {:.0} MB/s in all",
        of(tables),
        of(read.saturating_sub(tables)),
        of(json),
        rate(bytes, read + json)
    );
}

/// The text of a file, unpacked if it is compressed.
fn text(file: &str) -> Option<String> {
    match std::fs::read(file) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            eprintln!("{file}: {error}");
            None
        }
    }
}

/// Times one step and prints the result.
fn step(name: &str, bytes: usize, run: impl Fn() -> usize) -> Duration {
    let (begun, ran) = (Instant::now(), on_processor());
    let mut passes = 0;
    while begun.elapsed() < STEP {
        std::hint::black_box(run());
        passes += 1;
    }
    let took =
        on_processor().zip(ran).map_or_else(|| begun.elapsed(), |(now, then)| now.saturating_sub(then));
    let mean = took / passes.max(1);
    println!("{name:<34} {:>10.2} {:>10.0}", mean.as_secs_f64() * 1e3, rate(bytes, mean));
    mean
}

/// Processor time of this thread (Linux: proc(5), `/proc/thread-self/schedstat`); elsewhere the
/// wall clock is used.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// The rate in megabytes per second.
fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9)
}

/// A report of about a megabyte with the tables that dominate real reports.
fn made() -> String {
    let head = "<html><body class=\"awr\"><h1 class=\"awr\">WORKLOAD REPOSITORY report for</h1>\n";
    let mut text = String::from(head);
    let mut table = |title: &str, captions: &[&str], rows: usize| {
        text.push_str(&format!("<h3 class=\"awr\">{title}</h3>\n<table border=\"0\" class=\"tdiff\"><tr>"));
        captions
            .iter()
            .for_each(|caption| text.push_str(&format!("<th class=\"awrbg\" scope=\"col\">{caption}</th>")));
        text.push_str("</tr>\n");
        for row in 0..rows {
            text.push_str(&format!("<tr><td scope=\"row\" class='awrc'>made name {row}</td>"));
            for column in 1..captions.len() {
                let value = row * 1_017 % 9_973 * column;
                text.push_str(&format!("<td align=\"right\" class='awrc'>{value}.{:02}</td>", row % 100));
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</table><p />\n");
    };
    table(
        "Foreground Wait Events",
        &["Event", "Waits", "%Time -outs", "Total Wait Time (s)", "Avg wait (ms)"],
        400,
    );
    table("Instance Activity Stats", &["Statistic", "Total", "per Second", "per Trans"], 1_500);
    table("Latch Activity", &["Latch Name", "Get Requests", "Pct Get Miss", "Avg Slps /Miss"], 2_500);
    text.push_str("End of Report</body></html>\n");
    text
}
