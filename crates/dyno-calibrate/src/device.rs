//! Measures the device: conditions it first, then runs steps with pauses between them.

use std::time::Duration;

use dyno_record::RawFigure;
use dyno_record::RawTest::{
    self, LargeRead, Mixed, RandomRead, RandomWrite, SequentialRead, SequentialWrite,
};

use crate::calibration_state::{CalibrationRun, is_worth_continuing};
use crate::file::Unnamed;
use crate::fio::{Fio, FioFailure, FioJob, HOW_TO_GET};
use crate::refuse::judge_figure;

/// Block sizes of databases, bytes; the full ramp is always measured for the first.
const BLOCKS: [u64; 3] = [8192, 4096, 16_384];
/// Size of a large request, bytes.
const LARGE: u64 = 1 << 20;
/// Maximum number of concurrent requests.
const IN_FLIGHT_MOST: u32 = 256;
/// Maximum number of concurrent large requests.
const LARGE_MOST: u32 = 32;
/// Assumed write speed of a device not yet measured, bytes/s; used to estimate the remaining time.
const FILL_PER_S: f64 = 300e6;

/// The device and the test file.
struct DeviceBench<'c, 'a> {
    course: &'c mut CalibrationRun<'a>,
    fio: Fio,
    file: Unnamed,
    processors: u32,
}

/// Expected time of the device part, s.
pub(crate) fn expected_s(course: &CalibrationRun<'_>) -> f64 {
    let order = course.order;
    let step = (order.time() + order.rest()).as_secs_f64();
    let ramp = order.ramp(IN_FLIGHT_MOST).len();
    let steps =
        if order.quick { ramp + 2 * 2 + 2 + 2 * 2 + 2 } else { ramp * 5 + order.ramp(LARGE_MOST).len() + 3 };
    course.results.file_bytes as f64 / FILL_PER_S + (steps as f64 + 1.0) * step
}

/// Measures the device; a step that cannot be measured is left out with its reason.
pub(crate) fn measure(course: &mut CalibrationRun<'_>, processors: u32) {
    let bytes = course.results.file_bytes;
    let Some(fio) = Fio::find() else { return course.leave_out(HOW_TO_GET.to_owned()) };
    let mut file = match Unnamed::new(&course.folder) {
        Ok(file) => file,
        Err(error) => {
            return course.leave_out(format!(
                "device: no file can be created in {}: {error}",
                course.folder.display()
            ));
        }
    };
    if !file.is_on_device_of(&course.folder).unwrap_or(false) {
        return course
            .leave_out("device: a new file in the folder is on another device than the folder".to_owned());
    }
    if !file.takes_direct() {
        let why = "device: its file system refuses O_DIRECT, so memory would be measured";
        return course.leave_out(why.to_owned());
    }
    course.results.tool = Some(fio.name());
    course.step("writing the whole file", bytes as f64 / FILL_PER_S);
    match file.fill(bytes, course.cancel, &|_| {}) {
        Ok(true) => DeviceBench { course, fio, file, processors }.measure(),
        Ok(false) => {}
        Err(error) => {
            course.leave_out(format!("device: the file of {} MiB cannot be written: {error}", bytes >> 20));
        }
    }
}

impl DeviceBench<'_, '_> {
    fn measure(&mut self) {
        let course = &self.course;
        let (quick, time) = (course.order.quick, course.order.time());
        // A new or rested device is faster at first than it can sustain.
        let burst = FioJob { pattern: "randwrite", ..self.job("randwrite", BLOCKS[0], 16, time) };
        self.course.step("writing a burst", time.as_secs_f64());
        if let Err(FioFailure::Error(why)) = self.run(burst) {
            return self.course.leave_out(format!("device: {why}"));
        }
        let all = self.course.order.ramp(IN_FLIGHT_MOST);
        self.ramp(RandomRead, "randread", BLOCKS[0], &all);
        // A quick run keeps only the load with the highest rate and the highest load within the latency
        // limit.
        let in_flight_counts = if quick { self.best_in_flight(BLOCKS[0]) } else { all };
        for block in [BLOCKS[1], BLOCKS[2]] {
            self.ramp(RandomRead, "randread", block, &in_flight_counts);
        }
        // One process with one request at a time, then all of them.
        let large = if quick { vec![1, 16] } else { self.course.order.ramp(LARGE_MOST) };
        self.ramp(LargeRead, "randread", LARGE, &large);
        self.ramp(Mixed, "randrw", BLOCKS[0], &in_flight_counts);
        self.ramp(RandomWrite, "randwrite", BLOCKS[0], &in_flight_counts);
        for (test, pattern) in [(SequentialRead, "read"), (SequentialWrite, "write")] {
            self.measure_step(test, FioJob { pattern, block: LARGE, processes: 1, depth: 8, time });
        }
    }

    fn job(&self, pattern: &'static str, block: u64, in_flight: u32, time: Duration) -> FioJob {
        let (processes, depth) = self.fio.split_in_flight(in_flight, self.processors);
        FioJob { pattern, block, processes, depth, time }
    }

    /// Concurrent requests at which random reads had the highest rate within the latency limit, and the
    /// highest rate overall.
    fn best_in_flight(&self, block: u64) -> Vec<u32> {
        let calibration = &self.course.results;
        let candidates =
            [calibration.most_within(RandomRead, block), calibration.most_per_s(RandomRead, block)];
        let mut in_flight_counts: Vec<u32> =
            candidates.into_iter().flatten().map(|figure| figure.in_flight).collect();
        in_flight_counts.dedup();
        if in_flight_counts.is_empty() { vec![1, 16] } else { in_flight_counts }
    }

    /// Increases the concurrent requests until the rate stops rising.
    fn ramp(&mut self, test: RawTest, pattern: &'static str, block: u64, in_flight: &[u32]) {
        let time = self.course.order.time();
        let mut rates = Vec::new();
        for at_once in in_flight {
            if self.course.is_stopped() || !is_worth_continuing(&rates) {
                break;
            }
            let job = self.job(pattern, block, *at_once, time);
            rates.push(self.measure_step(test, job).unwrap_or(0.0));
        }
        let skipped = in_flight.len() - rates.len();
        let step = (time + self.course.order.rest()).as_secs_f64();
        self.course.left_s = (self.course.left_s - skipped as f64 * step).max(0.0);
    }

    /// Runs one step after a pause and returns its rate.
    fn measure_step(&mut self, test: RawTest, job: FioJob) -> Option<f64> {
        let rest = self.course.order.rest();
        self.course.rest(rest);
        if self.course.is_stopped() {
            return None;
        }
        let in_flight = job.processes * job.depth;
        let description = format!("{}: {in_flight} at once", test.words(Some(job.block)));
        self.course.step(&description, (job.time + rest).as_secs_f64());
        let before = self.course.witness.read_counters();
        let answer = self.run(job);
        let moved = self.course.witness.activity_since(before);
        let figure = RawFigure::of(test, Some(job.block), job.processes, in_flight);
        let figure = match answer {
            Ok(answer) => {
                let figure = RawFigure {
                    per_s: Some(answer.per_s),
                    mb_per_s: Some(answer.mb_per_s),
                    mean_us: Some(answer.mean_us),
                    p95_us: Some(answer.p95_us),
                    p99_us: Some(answer.p99_us),
                    ..figure
                };
                judge_figure(figure, answer.requested_bytes(), moved, self.course.memory_mb_per_s())
            }
            Err(FioFailure::Stopped) => return None,
            Err(FioFailure::Error(why)) => figure.refused(why),
        };
        let per_s = figure.per_s;
        self.course.put(figure);
        per_s
    }

    fn run(&self, job: FioJob) -> Result<crate::fio::FioResult, FioFailure> {
        self.fio.run(&self.file.path(), self.course.results.file_bytes, job, self.course.cancel)
    }
}
