//! Measures the memory of a report over many runs. It is a separate program, because it counts every
//! allocation.

#![allow(unsafe_code, reason = "an allocator that counts has no safe form")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use dyno_analyze::fixture;
use dyno_record::{ImportSource, RunRecord, Status};
use dyno_report::{EXPORTERS, Report, ReportRequest, Runs, RunsError};

/// Maximum bytes that one more run may add to the memory in use. Its record alone takes 26 KB.
const BYTES_MAX: usize = 1_500;

struct CountingAllocator;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    // SAFETY: the caller meets the requirements of the system's allocator.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(NOW.fetch_add(layout.size(), Ordering::SeqCst) + layout.size(), Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// This number of imported runs, each created when it is read.
#[derive(Debug)]
struct GeneratedRuns(usize);

impl GeneratedRuns {
    fn run(number: usize) -> RunRecord {
        static MODEL: LazyLock<RunRecord> = LazyLock::new(fixture::postgres);
        let mut run = MODEL.clone();
        run.id = format!("run-{number:06}");
        run.started_at = format!("2026-01-01T00:00:00.{number:06}Z");
        run.status = Status::Imported;
        run.kind = dyno_record::RecordKind::Import;
        run.imported =
            Some(ImportSource { format: "csv".into(), line: Some(number as u64), ..ImportSource::default() });
        run.gate.sessions = 1 + number as u32 % 16;
        run.ops.clear();
        run.audit.clear();
        run
    }
}

impl Runs for GeneratedRuns {
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        (0..self.0).try_for_each(|number| take(&Self::run(number)))
    }

    fn one(&self, id: &str) -> Result<RunRecord, RunsError> {
        Ok(Self::run(id.trim_start_matches("run-").parse().unwrap()))
    }
}

/// The peak memory while a report of this number of runs is made and written.
fn peak_bytes(runs: usize, format: &str) -> usize {
    let exporter = EXPORTERS.iter().find(|exporter| exporter.name == format).unwrap();
    let before = NOW.load(Ordering::SeqCst);
    MOST.store(before, Ordering::SeqCst);
    let report = Report::over(GeneratedRuns(runs)).unwrap();
    (exporter.export)(&report, &ReportRequest::default(), &mut std::io::sink()).unwrap();
    MOST.load(Ordering::SeqCst) - before
}

#[test]
fn report_memory_per_run_is_bounded() {
    for format in ["html", "md", "csv", "json"] {
        let (few, many) = (peak_bytes(100, format), peak_bytes(400, format));
        let bytes_per_run = many.saturating_sub(few) / 300;
        assert!(bytes_per_run < BYTES_MAX, "{format}: {bytes_per_run} bytes for each run, {few} for 100");
    }
}
