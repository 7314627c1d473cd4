//! Elapsed and remaining time of a window and a campaign, and questions about the state.

use dyno_record::SweepKind;

use super::RunProgress;
use super::phase::RunPhase;

impl RunProgress {
    /// Seconds of the window until `now_s`; absent before the first progress.
    pub fn window_elapsed_s(&self, now_s: f64) -> Option<f64> {
        self.live.map(|(live, at_s)| live.elapsed_s + (now_s - at_s).max(0.0))
    }

    /// Remaining time of the window, s; absent if unknown.
    pub fn window_left_s(&self, now_s: f64) -> Option<f64> {
        let (live, at_s) = self.live?;
        let left_s = match live.total_s {
            Some(total_s) => total_s - live.elapsed_s,
            // A run by operations has no length; the completed share gives the remaining time.
            None if live.done > 0.0 => live.elapsed_s / live.done * (1.0 - live.done),
            None => return None,
        };
        Some((left_s - (now_s - at_s).max(0.0)).max(0.0))
    }

    /// The completed share of the window, 0–1; absent before the first progress.
    pub fn window_share(&self, now_s: f64) -> Option<f64> {
        let (live, _) = self.live?;
        let share = match live.total_s {
            Some(total_s) => self.window_elapsed_s(now_s)? / total_s,
            None => live.done,
        };
        Some(share.clamp(0.0, 1.0))
    }

    /// Remaining time of the window and of all later runs, s; absent if unknown.
    pub fn all_left_s(&self, now_s: f64) -> Option<f64> {
        Some(self.window_left_s(now_s)? + self.rest_s?)
    }

    /// The phase of the load in progress; absent if none is.
    pub fn load_phase(&self) -> Option<&str> {
        match &self.phase {
            RunPhase::Loading(phase) => Some(phase),
            _ => None,
        }
    }

    /// Whether the campaign is a soak test, which has one run.
    pub fn is_soak(&self) -> bool {
        self.sweep_kind.as_deref() == Some(SweepKind::Soak.name())
    }
}
