//! `--dry-run`: shows the runs of a command and their duration, and measures nothing.

use dyno_report::number::{count, span_s};
use serde_json::json;

use crate::console::Console;
use crate::exit::Exit;

/// The runs that a command would make.
#[derive(Default)]
pub(super) struct DryRun {
    /// Each run, or group of runs, in order.
    pub(super) steps: Vec<String>,
    /// The least and the greatest number of runs; the greatest is absent where results decide it.
    pub(super) runs: (usize, Option<usize>),
    /// Time of warm-ups, windows and pauses of the least and the greatest number of runs, s; absent
    /// where windows end by operations.
    pub(super) seconds: Option<(f64, Option<f64>)>,
}

impl DryRun {
    /// A number of runs that is known.
    pub(super) fn of(steps: Vec<String>, seconds: Option<f64>) -> Self {
        let runs = steps.len();
        Self { steps, runs: (runs, Some(runs)), seconds: seconds.map(|seconds| (seconds, Some(seconds))) }
    }

    /// Shows the runs and their duration.
    pub(super) fn show(&self, talk: &Console) -> anyhow::Result<Exit> {
        for (at, step) in self.steps.iter().enumerate() {
            talk.show(&format!("{:>5}  {step}\n", at + 1))?;
        }
        let (least, most) = self.runs;
        talk.json(&json!({
            "steps": self.steps, "runs_min": least, "runs_max": most,
            "seconds_min": self.seconds.map(|(least, _)| least),
            "seconds_max": self.seconds.and_then(|(_, most)| most),
        }))?;
        talk.say(&format!("{}; {}; nothing was run", self.run_words(), self.time_words()));
        Ok(Exit::Done)
    }

    fn run_words(&self) -> String {
        let runs =
            |runs: usize| if runs == 1 { "1 run".to_owned() } else { format!("{} runs", count(runs as u64)) };
        match self.runs {
            (least, Some(most)) if least == most => runs(least),
            (least, Some(most)) => format!("{} to {}", count(least as u64), runs(most)),
            (least, None) => format!("at least {}", runs(least)),
        }
    }

    fn time_words(&self) -> String {
        let what = "warm-ups, windows and pauses take";
        match self.seconds {
            None => "windows end by operations, so the time is unknown".to_owned(),
            Some((least, Some(most))) if least == most => format!("{what} {}", span_s(least)),
            Some((least, Some(most))) => format!("{what} {} to {}", span_s(least), span_s(most)),
            Some((least, None)) => format!("{what} at least {}", span_s(least)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_their_time_are_stated_with_their_bounds() {
        let fixed = DryRun::of(vec!["a".into(), "b".into()], Some(90.0));
        assert_eq!(fixed.run_words(), "2 runs");
        assert_eq!(fixed.time_words(), "warm-ups, windows and pauses take 90 s");
        let open = DryRun { runs: (1, None), seconds: Some((60.0, None)), ..DryRun::default() };
        assert_eq!(open.run_words(), "at least 1 run");
        assert!(open.time_words().contains("at least"), "{}", open.time_words());
        let between = DryRun { runs: (4, Some(1_200)), ..DryRun::default() };
        assert_eq!(between.run_words(), "4 to 1,200 runs");
        assert!(between.time_words().contains("unknown"), "{}", between.time_words());
    }
}
