//! Progress of loads and runs: a line updated in place on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

use dyno_campaign::RunProgress;
use dyno_drive::RunEvent;
use dyno_record::SweepKind;
use dyno_report::Style;
use dyno_watch::ObservedInterval;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;

use crate::console::Console;

/// Interval between two redraws of the progress line.
const REDRAW: Duration = Duration::from_millis(100);

fn moving_line(talk: &Console) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if !talk.live {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are constants").progress_chars("█▉▊▋▌▍▎▏ ")
}

/// The progress line of a load by phase.
pub(crate) struct LoadProgressLine<'a> {
    talk: &'a Console,
    bar: ProgressBar,
    phase: Mutex<Option<(String, Instant)>>,
}

impl<'a> LoadProgressLine<'a> {
    pub(crate) fn new(talk: &'a Console) -> Self {
        let bar = moving_line(talk);
        bar.enable_steady_tick(REDRAW);
        Self { talk, bar, phase: Mutex::new(None) }
    }

    pub(crate) fn finish(&self) {
        self.end_phase(None);
        self.bar.finish_and_clear();
    }

    fn end_phase(&self, next: Option<&str>) {
        let mut phase = self.phase.lock();
        let next = next.map(|name| (name.to_owned(), Instant::now()));
        if let Some((name, began)) = std::mem::replace(&mut *phase, next) {
            let seconds = dyno_report::number::fixed(began.elapsed().as_secs_f64(), 1);
            self.bar.suspend(|| self.talk.detail(&format!("{name}: {seconds} s")));
        }
    }

    /// A phase begins with this number of rows.
    pub(crate) fn phase(&self, name: &str, rows: u64) {
        self.end_phase(Some(name));
        self.bar.suspend(|| self.talk.detail(&format!("{name} …")));
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

    /// The phase has handled this many rows, and bytes of their content.
    pub(crate) fn show_rows(&self, rows: u64, bytes: u64) {
        self.bar.set_position(rows);
        let seconds = self.bar.elapsed().as_secs_f64();
        if bytes > 0 && seconds > 0.0 {
            let rows_per_s = dyno_report::number::count((rows as f64 / seconds) as u64);
            let mb_per_s = dyno_report::number::fixed(bytes as f64 / 1e6 / seconds, 0);
            self.bar.set_message(format!("{rows_per_s} rows/s  {mb_per_s} MB/s"));
        }
    }
}

/// The progress line of a run.
pub(crate) struct RunLine<'a> {
    talk: &'a Console,
    bar: ProgressBar,
}

impl<'a> RunLine<'a> {
    pub(crate) fn new(talk: &'a Console) -> Self {
        let bar = moving_line(talk);
        bar.set_style(style("{msg}"));
        Self { talk, bar }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows an interval of an observed database.
    pub(crate) fn show_watch_interval(&self, moment: &ObservedInterval) {
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

    /// Hides the progress lines while `say` writes to stderr.
    pub(crate) fn suspend(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// Shows the progress after an event of the run.
    pub(crate) fn show_event(&self, event: &RunEvent, progress: &RunProgress) {
        let line = match event {
            RunEvent::Awaiting { there, of } => format!("waiting for driver hosts: {there} of {of}"),
            RunEvent::Connecting { ready, of } => format!("connecting: {ready} of {of} sessions are ready"),
            RunEvent::Warmup { seconds } => {
                format!("warm-up, {}", dyno_report::number::span_s(*seconds))
            }
            RunEvent::Window { .. } => "window".to_owned(),
            RunEvent::Interval(_) => window_line(progress, self.talk.live_style()),
            RunEvent::Draining => "draining".to_owned(),
            RunEvent::Closing { .. } | RunEvent::Final(_) | RunEvent::Late(_) => return,
            RunEvent::Complete(_) | RunEvent::Whole(_) => return,
        };
        if self.talk.live {
            self.bar.set_message(line);
            self.bar.tick();
        } else {
            self.talk.detail(&line);
        }
    }
}

/// The line of a window at its last progress, such as `3/28  12 s / 60 s  …  all 9 min 20 s`.
fn window_line(progress: &RunProgress, style: Style) -> String {
    let Some((live, at_s)) = progress.live else { return "window".to_owned() };
    let shown = dyno_report::LiveFigures {
        phase: "",
        elapsed_s: live.elapsed_s,
        length_s: live.total_s,
        until_s: live.until_s,
        ops_per_s: live.until_s.map(|_| live.ops_per_s),
        p50_us: live.p50_us,
        p99_us: live.p99_us,
        errors: live.errors,
        remaining_s: progress.window_left_s(at_s),
    };
    let Some(place) = place(progress) else { return dyno_report::live_line(&shown, &style) };
    let all = match progress.all_left_s(at_s) {
        Some(all_s) => format!("  all {}", dyno_report::number::span_s(all_s.round())),
        None => String::new(),
    };
    let room = style.width.saturating_sub(place.chars().count() + all.chars().count());
    let line = dyno_report::live_line(&shown, &Style { width: room, ..style });
    format!("{place}{line}{all}")
}

/// The place of a run among those of its campaign: `3/28`. A leg of a study has several runs, so it has none.
fn place(progress: &RunProgress) -> Option<String> {
    let number = progress.begun.as_ref()?.number;
    match (progress.sweep_kind.as_deref(), progress.of) {
        (Some(kind), _) if kind == SweepKind::Study.name() => None,
        _ if progress.is_soak() => Some("soak".to_owned()),
        (_, Some(of)) => Some(format!("{number}/{of}")),
        (_, None) => Some(format!("run {number}")),
    }
}

/// Progress of consecutive steps; each step reports the total remaining time.
pub(crate) struct StepProgress<'a> {
    talk: &'a Console,
    bar: ProgressBar,
}

impl<'a> StepProgress<'a> {
    pub(crate) fn new(talk: &'a Console) -> Self {
        let bar = moving_line(talk);
        bar.set_style(style("{spinner} {msg}  {elapsed}"));
        bar.enable_steady_tick(REDRAW);
        Self { talk, bar }
    }

    /// A step begins; `left_s` seconds remain for it and the steps after it.
    pub(crate) fn step(&self, description: &str, left_s: f64) {
        let line = format!("{description}  ETA {}", dyno_report::number::span_s(left_s.round()));
        if self.talk.live {
            self.bar.set_message(dyno_report::text::clean(&line));
        } else {
            self.talk.detail(&line);
        }
    }

    /// Writes a message between steps.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| self.talk.say(line));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

pub(crate) struct FilesProgress<'a> {
    talk: &'a Console,
    bar: ProgressBar,
}

impl<'a> FilesProgress<'a> {
    pub(crate) fn new(talk: &'a Console, files: usize) -> Self {
        let bar = moving_line(talk);
        bar.set_length(files as u64);
        bar.set_style(style("{bar:24} {percent:>3} %  {human_pos}/{human_len} files  ETA {eta}  {msg}"));
        Self { talk, bar }
    }

    /// One more file has been read.
    pub(crate) fn advance(&self, file: &std::path::Path) {
        self.talk.detail(&format!("{} read", file.display()));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.bar.set_message(dyno_report::text::clean(&name));
        self.bar.inc(1);
    }

    /// Hides the progress line while `say` writes to stderr.
    pub(crate) fn suspend(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use dyno_campaign::ProgressEvent;
    use dyno_campaign::progress::CampaignStep;
    use dyno_drive::LiveProgress;

    use super::*;

    #[test]
    fn line_of_a_window_names_the_run_and_the_time_of_all() {
        let style = Style { color: false, width: 120 };
        let mut progress = RunProgress::default();
        let live = LiveProgress { elapsed_s: 12.0, total_s: Some(60.0), ..LiveProgress::default() };
        progress.apply(&ProgressEvent::Progress(live), 3.0);
        let alone = window_line(&progress, style);
        assert!(alone.starts_with("  12 s / 60 s  ops/s –"), "{alone}");
        assert!(alone.ends_with("ETA 48 s"), "{alone}");
        let begun = |kind: SweepKind| ProgressEvent::Begun {
            id: "x".into(),
            kind: kind.name().to_owned(),
            axes: Vec::new(),
            skips: false,
            points: Vec::new(),
        };
        let step = CampaignStep { number: 3, ..CampaignStep::default() };
        progress.apply(&begun(SweepKind::Sweep), 3.0);
        progress.apply(&ProgressEvent::Next { step, of: Some(28), all_s: None, rest_s: Some(60.0) }, 3.0);
        let line = window_line(&progress, style);
        assert!(line.starts_with("3/28  12 s / 60 s"), "{line}");
        assert!(line.ends_with("ETA 48 s  all 108 s"), "{line}");
        progress.apply(&begun(SweepKind::Study), 3.0);
        assert!(window_line(&progress, style).starts_with("  12 s"), "a leg has several runs");
        progress.apply(&begun(SweepKind::Soak), 3.0);
        assert!(window_line(&progress, style).starts_with("soak  12 s"));
    }
}
