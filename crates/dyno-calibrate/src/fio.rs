//! Runs `fio` and parses its output.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use serde::Deserialize;

use crate::refuse::RequestedBytes;

/// Message that says how to install it.
pub(crate) const HOW_TO_GET: &str = "fio is not installed, so the device is not measured: install the package fio (apt-get install fio, dnf install fio)";

/// Interval between two checks of the running process.
const LOOK: Duration = Duration::from_millis(20);
/// Time allowed beyond the requested length, for startup and hanging requests.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub(crate) struct Fio {
    version: String,
    /// fio's I/O engine for concurrent requests.
    engine: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FioJob {
    /// fio's name of the access pattern: `randread`.
    pub(crate) pattern: &'static str,
    pub(crate) block: u64,
    pub(crate) processes: u32,
    /// Requests in flight in each process.
    pub(crate) depth: u32,
    pub(crate) time: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FioResult {
    pub(crate) per_s: f64,
    /// Bandwidth in 10⁶ bytes per second.
    pub(crate) mb_per_s: f64,
    /// Latency, µs: mean over reads and writes; percentiles of the slower of the two.
    pub(crate) mean_us: f64,
    pub(crate) p95_us: f64,
    pub(crate) p99_us: f64,
    /// Bytes read and bytes written.
    pub(crate) asked_read: u64,
    pub(crate) asked_write: u64,
}

impl FioResult {
    pub(crate) fn requested_bytes(&self) -> RequestedBytes {
        RequestedBytes { read_bytes: self.asked_read, write_bytes: self.asked_write }
    }
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FioFailure {
    Stopped,
    /// fio reported an error, or its output could not be parsed.
    Error(String),
}

impl Fio {
    /// Finds the installed fio and its I/O engine.
    pub(crate) fn find() -> Option<Self> {
        let fio_output = |argument: &str| {
            let output = Command::new("fio").arg(argument).stdin(Stdio::null()).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let version = fio_output("--version")?;
        let engines = fio_output("--enghelp").unwrap_or_default();
        let has = |name: &str| engines.lines().any(|line| line.trim() == name);
        Some(Self { version, engine: if has("libaio") { "libaio" } else { "psync" } })
    }

    /// fio's version and I/O engine.
    pub(crate) fn name(&self) -> String {
        format!("{} ({})", self.version, self.engine)
    }

    /// Splits concurrent requests into processes and requests per process for this number of processors.
    /// Without asynchronous I/O, each request needs its own process.
    pub(crate) fn split_in_flight(&self, in_flight: u32, processors: u32) -> (u32, u32) {
        if self.engine == "psync" {
            return (in_flight, 1);
        }
        let processes = in_flight.min(processors.max(1));
        (processes, in_flight.div_ceil(processes))
    }

    /// Runs `job` with direct I/O on an existing file.
    pub(crate) fn run(
        &self,
        file: &Path,
        bytes: u64,
        job: FioJob,
        cancel: &Cancel,
    ) -> Result<FioResult, FioFailure> {
        let FioJob { pattern, block, processes, depth, time } = job;
        let engine = if depth == 1 { "psync" } else { self.engine };
        let options = [
            "--name=dyno".to_owned(),
            format!("--filename={}", file.display()),
            format!("--size={bytes}"),
            format!("--rw={pattern}"),
            format!("--bs={block}"),
            format!("--numjobs={processes}"),
            format!("--iodepth={depth}"),
            format!("--ioengine={engine}"),
            format!("--runtime={}ms", time.as_millis()),
            "--time_based".to_owned(),
            "--direct=1".to_owned(),
            "--thread".to_owned(),
            "--group_reporting".to_owned(),
            "--randrepeat=0".to_owned(),
            "--norandommap".to_owned(),
            "--refill_buffers".to_owned(),
            "--rwmixread=70".to_owned(),
            "--lat_percentiles=1".to_owned(),
            "--clat_percentiles=0".to_owned(),
            "--percentile_list=95:99".to_owned(),
            "--output-format=json".to_owned(),
        ];
        // fio runs in its own process group: Dyno handles Ctrl-C and stops fio itself.
        let mut command = Command::new("fio");
        command.args(options).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .process_group(0)
            .spawn()
            .map_err(|error| FioFailure::Error(format!("fio cannot be run: {error}")))?;
        let stdout = reader(child.stdout.take());
        let stderr = reader(child.stderr.take());
        let late = Instant::now() + time + PATIENCE;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if cancel.is_cancelled() => break Err(FioFailure::Stopped),
                Ok(None) if Instant::now() > late => {
                    break Err(FioFailure::Error("fio did not end: requests to the device hang".to_owned()));
                }
                Ok(None) => thread::sleep(LOOK),
                Err(error) => break Err(FioFailure::Error(format!("fio cannot be waited for: {error}"))),
            }
        };
        if status.is_err() {
            // The process may have ended already; that is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
        let (said, complained) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        if cancel.is_cancelled() {
            return Err(FioFailure::Stopped);
        }
        if !status?.success() {
            let first =
                complained.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gives no reason");
            return Err(FioFailure::Error(format!("fio failed: {first}")));
        }
        parse(&said).map_err(FioFailure::Error)
    }
}

/// Reads a pipe to its end in a thread: a full pipe would block the writer.
fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Output read before an error is kept.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[derive(Deserialize)]
struct Output {
    jobs: Vec<JobOutput>,
}

#[derive(Deserialize)]
struct JobOutput {
    error: i64,
    read: Direction,
    write: Direction,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    total_ios: u64,
    runtime: f64,
    lat_ns: Latency,
}

#[derive(Deserialize)]
struct Latency {
    mean: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl Latency {
    /// A percentile of latency, µs.
    fn at(&self, percent: f64) -> Option<f64> {
        let mut all = self.percentile.iter();
        all.find(|(name, _)| name.parse() == Ok(percent)).map(|(_, ns)| ns / 1e3)
    }
}

/// Parses fio's JSON output, which other text may precede.
fn parse(text: &str) -> Result<FioResult, String> {
    let begin = text.find('{').ok_or("fio printed nothing")?;
    let output: Output = serde_json::from_str(&text[begin..])
        .map_err(|error| format!("fio's output cannot be read: {error}"))?;
    let [job] = output.jobs.as_slice() else {
        return Err(format!("fio reported {} jobs instead of one", output.jobs.len()));
    };
    if job.error != 0 {
        return Err(format!("fio failed with error {}", job.error));
    }
    let directions: Vec<&Direction> =
        [&job.read, &job.write].into_iter().filter(|own| own.total_ios > 0).collect();
    let count: u64 = directions.iter().map(|own| own.total_ios).sum();
    let percentile = |percent: f64| {
        let latencies: Option<Vec<f64>> = directions.iter().map(|own| own.lat_ns.at(percent)).collect();
        latencies.and_then(|own| own.into_iter().reduce(f64::max))
    };
    let (Some(p95_us), Some(p99_us)) = (percentile(95.0), percentile(99.0)) else {
        return Err("fio's output has no percentiles of latency".to_owned());
    };
    let rate = |of: fn(&Direction) -> u64| -> f64 {
        directions.iter().map(|own| of(own) as f64 / own.runtime * 1e3).sum()
    };
    let mean_us =
        directions.iter().map(|own| own.lat_ns.mean * own.total_ios as f64).sum::<f64>() / count as f64 / 1e3;
    Ok(FioResult {
        per_s: rate(|own| own.total_ios),
        mb_per_s: rate(|own| own.io_bytes) / 1e6,
        mean_us,
        p95_us,
        p99_us,
        asked_read: job.read.io_bytes,
        asked_write: job.write.io_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of fio 3.33 for 0.3 s of random reads, and for a mix.
    const READS: &str = include_str!("../tests/fio-randread.json");
    const MIX: &str = include_str!("../tests/fio-mix.json");

    #[test]
    fn fio_reads_have_rates_and_latencies() {
        let answer = parse(READS).unwrap();
        assert_eq!((answer.asked_read, answer.asked_write), (151_740_416, 0));
        assert!((answer.per_s - 61_538.2).abs() < 0.1, "{answer:?}");
        assert!((answer.mb_per_s - 504.1).abs() < 0.1, "{answer:?}");
        assert!((answer.mean_us - 129.32).abs() < 0.01, "{answer:?}");
        assert_eq!((answer.p95_us, answer.p99_us), (156.672, 199.68));
    }

    #[test]
    fn fio_mix_combines_reads_and_writes_with_slower_percentiles() {
        let answer = parse(MIX).unwrap();
        let share = answer.asked_read as f64 / (answer.asked_read + answer.asked_write) as f64;
        assert!((share - 0.7).abs() < 0.05, "{share}");
        let output: Output = serde_json::from_str(MIX).unwrap();
        let (read, write) = (&output.jobs[0].read, &output.jobs[0].write);
        let slower = read.lat_ns.at(99.0).unwrap().max(write.lat_ns.at(99.0).unwrap());
        assert_eq!(answer.p99_us, slower);
        let means = [read.lat_ns.mean / 1e3, write.lat_ns.mean / 1e3];
        assert!(answer.mean_us > means[0].min(means[1]));
        assert!(answer.mean_us < means[0].max(means[1]));
    }

    #[test]
    fn fio_output_before_the_result_is_skipped_and_no_result_fails() {
        assert!(
            parse(&format!("note: both iodepth >= 1 and synchronous I/O engine are selected\n{READS}"))
                .is_ok()
        );
        assert!(parse("").unwrap_err().contains("nothing"));
        assert!(parse("{\"jobs\":[]}").unwrap_err().contains("0 jobs"));
        let failed = READS.replacen("\"error\" : 0", "\"error\" : 28", 1);
        assert!(parse(&failed).unwrap_err().contains("error 28"));
        let silent = READS.replace("99.000000", "98.000000");
        assert!(parse(&silent).unwrap_err().contains("no percentiles"));
    }

    #[test]
    fn fio_requests_are_spread_over_processors_when_possible() {
        let fio_with = |engine| Fio { version: "fio-3.33".into(), engine };
        assert_eq!(fio_with("libaio").split_in_flight(64, 4), (4, 16));
        assert_eq!(fio_with("libaio").split_in_flight(1, 4), (1, 1));
        assert_eq!(fio_with("psync").split_in_flight(64, 4), (64, 1));
    }
}
