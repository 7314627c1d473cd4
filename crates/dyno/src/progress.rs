//! Progress of loads and runs: a moving line on a terminal, plain lines elsewhere.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dyno_drive::Event;
use dyno_drive::present::Moment;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::talk::Talk;

/// How often a moving line is drawn anew.
const REDRAW: Duration = Duration::from_millis(100);

fn moving_line(talk: &Talk) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if !talk.live {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are constants").progress_chars("█▉▊▋▌▍▎▏ ")
}

/// A load, phase by phase.
pub(crate) struct LoadProgress<'a> {
    talk: &'a Talk,
    bar: ProgressBar,
    bytes: AtomicU64,
    phase: Mutex<Option<(String, Instant)>>,
}

impl<'a> LoadProgress<'a> {
    pub(crate) fn new(talk: &'a Talk) -> Self {
        let bar = moving_line(talk);
        bar.enable_steady_tick(REDRAW);
        Self { talk, bar, bytes: AtomicU64::new(0), phase: Mutex::new(None) }
    }

    /// Ends the last phase.
    pub(crate) fn finish(&self) {
        self.end_phase(None);
        self.bar.finish_and_clear();
    }

    fn end_phase(&self, next: Option<&str>) {
        let mut phase = self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let next = next.map(|name| (name.to_owned(), Instant::now()));
        if let Some((name, began)) = std::mem::replace(&mut *phase, next) {
            let seconds = dyno_report::number::fixed(began.elapsed().as_secs_f64(), 1);
            self.bar.suspend(|| self.talk.detail(&format!("{name}: {seconds} s")));
        }
    }

    /// A phase begins, which will handle so many rows.
    pub(crate) fn phase(&self, name: &str, rows: u64) {
        self.end_phase(Some(name));
        self.bar.suspend(|| self.talk.detail(&format!("{name} …")));
        self.bytes.store(0, Ordering::Relaxed);
        self.bar.reset();
        if rows > 0 {
            self.bar.set_length(rows);
            let template =
                "{prefix:>8} {bar:24} {percent:>3} %  {human_pos}/{human_len} rows  {msg}  ETA {eta}";
            self.bar.set_style(style(template));
        } else {
            self.bar.set_style(style("{prefix:>8} {spinner} {elapsed}"));
        }
        self.bar.set_prefix(name.to_owned());
        self.bar.set_message("");
    }

    /// So many rows and bytes more are handled.
    pub(crate) fn advance(&self, rows: u64, bytes: u64) {
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bar.inc(rows);
        let seconds = self.bar.elapsed().as_secs_f64();
        if bytes > 0 && seconds > 0.0 {
            let rows_per_s = dyno_report::number::count((self.bar.position() as f64 / seconds) as u64);
            let mb_per_s = dyno_report::number::fixed(bytes as f64 / 1e6 / seconds, 0);
            self.bar.set_message(format!("{rows_per_s} rows/s  {mb_per_s} MB/s"));
        }
    }
}

/// A run, phase by phase.
pub(crate) struct RunProgress<'a> {
    talk: &'a Talk,
    bar: ProgressBar,
    /// Where the run stands among others, and how long those after it will take, s.
    place: Option<(String, Option<f64>)>,
}

impl<'a> RunProgress<'a> {
    pub(crate) fn new(talk: &'a Talk) -> Self {
        let bar = moving_line(talk);
        bar.set_style(style("{msg}"));
        Self { talk, bar, place: None }
    }

    /// The progress of one run among others: `3 of 28`, after which runs of `rest_s` seconds follow.
    pub(crate) fn among(talk: &'a Talk, place: &str, rest_s: Option<f64>) -> Self {
        let place = dyno_report::text::clean(place);
        Self { place: Some((place, rest_s)), ..Self::new(talk) }
    }

    /// Takes the moving line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn live_line(&self, live: &dyno_drive::Live) -> String {
        // By operations there is no length; the share that is done tells how long it will take.
        let remaining_s = match live.total_s {
            Some(total_s) => Some((total_s - live.elapsed_s).max(0.0)),
            None => (live.done > 0.0).then(|| live.elapsed_s / live.done * (1.0 - live.done)),
        };
        let shown = dyno_report::Live {
            phase: "",
            elapsed_s: live.elapsed_s,
            length_s: live.total_s,
            until_s: live.until_s,
            ops_per_s: live.until_s.map(|_| live.ops_per_s),
            p50_us: live.p50_us,
            p99_us: live.p99_us,
            errors: live.errors,
            remaining_s,
        };
        let style = self.talk.live_style();
        let Some((place, rest_s)) = &self.place else { return dyno_report::live_line(&shown, &style) };
        let all = match (remaining_s, rest_s) {
            (Some(remaining_s), Some(rest_s)) => {
                format!("  all {}", dyno_report::number::span_s((remaining_s + rest_s).round()))
            }
            _ => String::new(),
        };
        let room = style.width.saturating_sub(place.chars().count() + all.chars().count());
        let line = dyno_report::live_line(&shown, &dyno_report::Style { width: room, ..style });
        format!("{place}{line}{all}")
    }

    /// A database that is only looked at goes on.
    pub(crate) fn watched(&self, moment: &Moment) {
        let live = dyno_report::WatchLive {
            elapsed_s: moment.elapsed_s,
            length_s: moment.total_s,
            point: moment.point.as_ref(),
            waits: &moment.waits,
        };
        let lines = dyno_report::watch_lines(&live, &self.talk.live_style());
        if self.talk.live {
            self.bar.set_message(lines.join("\n"));
            self.bar.tick();
        } else {
            let words: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
            self.talk.detail(&words.join("; "));
        }
    }

    /// Takes the moving lines away while `say` writes to stderr.
    pub(crate) fn suspend(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// The run goes on.
    pub(crate) fn event(&self, event: &Event) {
        let line = match event {
            Event::Awaiting { there, of } => format!("waiting for driver hosts: {there} of {of}"),
            Event::Connecting { ready, of } => format!("connecting: {ready} of {of} sessions are ready"),
            Event::Warmup { seconds } => {
                format!("warm-up, {}", dyno_report::number::span_s(*seconds))
            }
            Event::Window { .. } => "window".to_owned(),
            Event::Interval(live) => self.live_line(live),
            Event::Draining => "draining".to_owned(),
            Event::Closing { .. } | Event::Final(_) | Event::Late(_) => return,
            Event::Complete(_) | Event::Whole(_) => return,
        };
        if self.talk.live {
            self.bar.set_message(line);
            self.bar.tick();
        } else {
            self.talk.detail(&line);
        }
    }
}

/// One step after the other, of which each says how long all will take.
pub(crate) struct StepProgress<'a> {
    talk: &'a Talk,
    bar: ProgressBar,
}

impl<'a> StepProgress<'a> {
    pub(crate) fn new(talk: &'a Talk) -> Self {
        let bar = moving_line(talk);
        bar.set_style(style("{spinner} {msg}  {elapsed}"));
        bar.enable_steady_tick(REDRAW);
        Self { talk, bar }
    }

    /// This is done now, and so many seconds are left for it and all that follows.
    pub(crate) fn step(&self, what: &str, left_s: f64) {
        let line = format!("{what}  ETA {}", dyno_report::number::span_s(left_s.round()));
        if self.talk.live {
            self.bar.set_message(dyno_report::text::clean(&line));
        } else {
            self.talk.detail(&line);
        }
    }

    /// A line of talk meanwhile.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| self.talk.say(line));
    }

    /// Takes the moving line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Files being read.
pub(crate) struct FilesProgress<'a> {
    talk: &'a Talk,
    bar: ProgressBar,
}

impl<'a> FilesProgress<'a> {
    pub(crate) fn new(talk: &'a Talk, files: usize) -> Self {
        let bar = moving_line(talk);
        bar.set_length(files as u64);
        bar.set_style(style("{bar:24} {percent:>3} %  {human_pos}/{human_len} files  ETA {eta}  {msg}"));
        Self { talk, bar }
    }

    /// One file more is read.
    pub(crate) fn advance(&self, file: &std::path::Path) {
        self.talk.detail(&format!("{} read", file.display()));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.bar.set_message(dyno_report::text::clean(&name));
        self.bar.inc(1);
    }

    /// Takes the moving line away while `say` writes to stderr.
    pub(crate) fn suspend(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// Takes the moving line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
