//! What a job does, in words.

use dyno_campaign::RunProgress;
use dyno_report::number::{count, span_s};
use dyno_report::text::clean;

use crate::jobs::{JobState, ServeJob};

/// Describes the current state in words.
pub(crate) fn status_text(job: &ServeJob, progress: &RunProgress, before: usize) -> String {
    match job.state {
        JobState::Queued if before == 1 => "waits for one earlier job on this target".into(),
        JobState::Queued => format!("waits for {before} earlier jobs on this target"),
        JobState::Running => progress_text(progress),
        JobState::Done => "finished".into(),
        JobState::Doubtful => "finished; some runs do not count".into(),
        JobState::Stopped if job.exit.is_none() && job.process.is_none() => {
            "stopped before it began; nothing was measured".into()
        }
        JobState::Stopped => "stopped; what was measured is stored".into(),
        JobState::Failed => "failed; see the log below".into(),
        JobState::Interrupted => {
            "interrupted: its process ended unexpectedly; completed runs are stored".into()
        }
    }
}

fn progress_text(progress: &RunProgress) -> String {
    let mut parts = Vec::new();
    if let Some(why) = &progress.away {
        parts.push(format!("the database does not answer: {}", clean(why)));
    }
    if progress.paused && progress.elapsed_s.is_none() {
        parts.push("paused before the next run".to_owned());
        return parts.join(", ");
    }
    if let Some(next) = &progress.next {
        let of_total = progress.of.map_or_else(String::new, |of| format!(" of {of}"));
        parts.push(format!("run {}{of_total}", next.number));
    }
    let phase = progress.phase.name();
    if !phase.is_empty() {
        parts.push(phase);
    }
    if let Some(elapsed) = progress.elapsed_s {
        let total = progress.total_s.map_or_else(String::new, |total| format!(" / {}", span_s(total)));
        parts.push(format!("{}{total}", span_s(elapsed.floor())));
    }
    if let Some(rows) = progress.rows {
        parts.push(format!("{} rows", count(rows)));
    }
    if let Some(all) = progress.all_s {
        parts.push(format!("about {} in total", span_s(all.round())));
    }
    if parts.is_empty() { "starting".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(state: JobState, exit: Option<i32>) -> ServeJob {
        let job = json!({
            "id": "job-1", "kind": "sweep", "target": "bench", "place": "sqlite:bench.db", "command": "dyno sweep",
            "started_at": "2026-01-01T00:00:00Z", "ended_at": null, "state": state, "steps": [[]], "step": 0,
            "process": null, "stop": false, "exit": exit,
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn job_that_was_stopped_in_the_queue_stored_nothing() {
        let words = |exit| status_text(&job(JobState::Stopped, exit), &RunProgress::default(), 0);
        assert_eq!(words(None), "stopped before it began; nothing was measured");
        assert_eq!(words(Some(130)), "stopped; what was measured is stored");
    }

    #[test]
    fn paused_campaign_does_not_show_the_phase_of_its_last_run() {
        let mut progress = RunProgress::default();
        let words = |progress: &RunProgress| status_text(&job(JobState::Running, None), progress, 0);
        for event in [
            json!({ "event": "phase", "phase": "drain", "seconds": 5.0 }),
            json!({ "event": "paused", "paused": true }),
        ] {
            progress.apply(&serde_json::from_value(event).unwrap(), 0.0);
        }
        assert_eq!(words(&progress), "paused before the next run");
        progress.away = Some("connection refused".into());
        assert_eq!(
            words(&progress),
            "the database does not answer: connection refused, paused before the next run"
        );
    }

    #[test]
    fn queued_job_says_how_many_are_before_it() {
        let words = |before| status_text(&job(JobState::Queued, None), &RunProgress::default(), before);
        assert_eq!(words(1), "waits for one earlier job on this target");
        assert_eq!(words(2), "waits for 2 earlier jobs on this target");
    }
}
