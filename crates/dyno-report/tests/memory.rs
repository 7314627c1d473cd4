//! How much memory a report of many runs takes. A program of its own: everything that it allocates is counted.

#![allow(unsafe_code, reason = "an allocator that counts has no safe form")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use dyno_analyze::fixture;
use dyno_record::{Imported, RunRecord, Status};
use dyno_report::{EXPORTERS, Report, Request, Runs, RunsError};

/// What one more run may add to what is in memory at once. Its record alone takes 26 KB there.
const BYTES_MAX: usize = 1_500;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: whoever calls keeps what the system's allocator asks for.
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
static ALLOCATOR: Counting = Counting;

/// So many imported runs, each made when it is its turn.
#[derive(Debug)]
struct Made(usize);

impl Made {
    fn run(number: usize) -> RunRecord {
        static MODEL: LazyLock<RunRecord> = LazyLock::new(fixture::postgres);
        let mut run = MODEL.clone();
        run.id = format!("run-{number:06}");
        run.started_at = format!("2026-01-01T00:00:00.{number:06}Z");
        run.status = Status::Imported;
        run.kind = dyno_record::Kind::Import;
        run.imported =
            Some(Imported { format: "csv".into(), line: Some(number as u64), ..Imported::default() });
        run.gate.sessions = 1 + number as u32 % 16;
        run.ops.clear();
        run.audit.clear();
        run
    }
}

impl Runs for Made {
    fn each(&self, take: &mut dyn FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        (0..self.0).try_for_each(|number| take(&Self::run(number)))
    }

    fn one(&self, id: &str) -> Result<RunRecord, RunsError> {
        Ok(Self::run(id.trim_start_matches("run-").parse().unwrap()))
    }
}

/// The most bytes that are in memory while a report of so many runs is made and written.
fn most(runs: usize, format: &str) -> usize {
    let exporter = EXPORTERS.iter().find(|exporter| exporter.name == format).unwrap();
    let before = NOW.load(Ordering::SeqCst);
    MOST.store(before, Ordering::SeqCst);
    let report = Report::over(Made(runs)).unwrap();
    (exporter.export)(&report, &Request::default(), &mut std::io::sink()).unwrap();
    MOST.load(Ordering::SeqCst) - before
}

#[test]
fn a_report_holds_a_few_figures_of_each_run_and_no_record() {
    for format in ["html", "md", "csv", "json"] {
        let (few, many) = (most(100, format), most(400, format));
        let each = many.saturating_sub(few) / 300;
        assert!(each < BYTES_MAX, "{format}: {each} bytes for each run, {few} for 100");
    }
}
