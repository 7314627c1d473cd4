//! The device: conditioned first, then asked step by step with rests between.

use std::time::Duration;

use dyno_record::RawFigure;
use dyno_record::RawTest::{
    self, LargeRead, Mixed, RandomRead, RandomWrite, SequentialRead, SequentialWrite,
};

use crate::course::{Course, still_pays};
use crate::file::Unnamed;
use crate::fio::{Failed, Fio, HOW_TO_GET, Job};
use crate::refuse::judged;

/// Blocks of databases, bytes; the first is the one whose ramp is always walked.
const BLOCKS: [u64; 3] = [8192, 4096, 16_384];
/// A large piece, bytes.
const LARGE: u64 = 1 << 20;
/// Requests at once, at most.
const IN_FLIGHT_MOST: u32 = 256;
/// The same of large ones.
const LARGE_MOST: u32 = 32;
/// How fast a device is written whose speed nobody knows yet, bytes/s: for the time that is said to be left.
const FILL_PER_S: f64 = 300e6;

/// The device and the file that is asked for.
struct Bench<'c, 'a> {
    course: &'c mut Course<'a>,
    fio: Fio,
    file: Unnamed,
    processors: u32,
}

/// How long it will take, s.
pub(crate) fn expected_s(course: &Course<'_>) -> f64 {
    let order = course.order;
    let step = (order.time() + order.rest()).as_secs_f64();
    let ramp = order.ramp(IN_FLIGHT_MOST).len();
    let steps =
        if order.quick { ramp + 2 * 2 + 2 + 2 * 2 + 2 } else { ramp * 5 + order.ramp(LARGE_MOST).len() + 3 };
    course.found.file_bytes as f64 / FILL_PER_S + (steps as f64 + 1.0) * step
}

/// Measures the device; what cannot be measured is left out with its reason.
pub(crate) fn measure(course: &mut Course<'_>, processors: u32) {
    let bytes = course.found.file_bytes;
    let Some(fio) = Fio::find() else { return course.leave_out(HOW_TO_GET.to_owned()) };
    let mut file = match Unnamed::new(&course.folder) {
        Ok(file) => file,
        Err(error) => {
            return course
                .leave_out(format!("device: no file can be made in {}: {error}", course.folder.display()));
        }
    };
    if !file.is_on_device_of(&course.folder).unwrap_or(false) {
        return course
            .leave_out("device: a new file of the folder lies on another device than the folder".to_owned());
    }
    if !file.takes_direct() {
        let why = "device: its file system refuses O_DIRECT, so that memory would be measured";
        return course.leave_out(why.to_owned());
    }
    course.found.tool = Some(fio.name());
    course.step("the file is written whole", bytes as f64 / FILL_PER_S);
    match file.fill(bytes, course.cancel, &|_| {}) {
        Ok(true) => Bench { course, fio, file, processors }.measure(),
        Ok(false) => {}
        Err(error) => {
            course.leave_out(format!("device: the file of {} MiB cannot be written: {error}", bytes >> 20));
        }
    }
}

impl Bench<'_, '_> {
    fn measure(&mut self) {
        let course = &self.course;
        let (quick, time) = (course.order.quick, course.order.time());
        // What a device does new or rested it does not do for long.
        let burst = Job { pattern: "randwrite", ..self.job("randwrite", BLOCKS[0], 16, time) };
        self.course.step("a burst of writes", time.as_secs_f64());
        if let Err(Failed::Error(why)) = self.run(burst) {
            return self.course.leave_out(format!("device: {why}"));
        }
        let all = self.course.order.ramp(IN_FLIGHT_MOST);
        self.ramp(RandomRead, "randread", BLOCKS[0], &all);
        // A quick look has, of all that follows, what was most there and what kept the bound.
        let own = if quick { self.best(BLOCKS[0]) } else { all };
        for block in [BLOCKS[1], BLOCKS[2]] {
            self.ramp(RandomRead, "randread", block, &own);
        }
        // One process with one request at a time, then all of them.
        let large = if quick { vec![1, 16] } else { self.course.order.ramp(LARGE_MOST) };
        self.ramp(LargeRead, "randread", LARGE, &large);
        self.ramp(Mixed, "randrw", BLOCKS[0], &own);
        self.ramp(RandomWrite, "randwrite", BLOCKS[0], &own);
        for (test, pattern) in [(SequentialRead, "read"), (SequentialWrite, "write")] {
            self.one(test, Job { pattern, block: LARGE, processes: 1, depth: 8, time });
        }
    }

    fn job(&self, pattern: &'static str, block: u64, in_flight: u32, time: Duration) -> Job {
        let (processes, depth) = self.fio.spread(in_flight, self.processors);
        Job { pattern, block, processes, depth, time }
    }

    /// Requests at once at which random reads were most within the bound, and most.
    fn best(&self, block: u64) -> Vec<u32> {
        let found = &self.course.found;
        let both = [found.most_within(RandomRead, block), found.most_per_s(RandomRead, block)];
        let mut own: Vec<u32> = both.into_iter().flatten().map(|figure| figure.in_flight).collect();
        own.dedup();
        if own.is_empty() { vec![1, 16] } else { own }
    }

    /// More and more requests at once, until more bring nothing.
    fn ramp(&mut self, test: RawTest, pattern: &'static str, block: u64, in_flight: &[u32]) {
        let time = self.course.order.time();
        let mut rates = Vec::new();
        for at_once in in_flight {
            if self.course.is_stopped() || !still_pays(&rates) {
                break;
            }
            let job = self.job(pattern, block, *at_once, time);
            rates.push(self.one(test, job).unwrap_or(0.0));
        }
        let skipped = in_flight.len() - rates.len();
        let step = (time + self.course.order.rest()).as_secs_f64();
        self.course.left_s = (self.course.left_s - skipped as f64 * step).max(0.0);
    }

    /// One step behind a rest; comes back with its rate.
    fn one(&mut self, test: RawTest, job: Job) -> Option<f64> {
        let rest = self.course.order.rest();
        self.course.rest(rest);
        if self.course.is_stopped() {
            return None;
        }
        let in_flight = job.processes * job.depth;
        let what = format!("{}: {in_flight} at once", test.words(Some(job.block)));
        self.course.step(&what, (job.time + rest).as_secs_f64());
        let before = self.course.witness.now();
        let answer = self.run(job);
        let moved = self.course.witness.since(before);
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
                judged(figure, answer.asked(), moved, self.course.memory_mb_per_s())
            }
            Err(Failed::Stopped) => return None,
            Err(Failed::Error(why)) => figure.refused(why),
        };
        let per_s = figure.per_s;
        self.course.put(figure);
        per_s
    }

    fn run(&self, job: Job) -> Result<crate::fio::Answer, Failed> {
        self.fio.run(&self.file.path(), self.course.found.file_bytes, job, self.course.cancel)
    }
}
