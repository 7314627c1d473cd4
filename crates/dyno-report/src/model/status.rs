//! Colors of a run's state, in terminals and on pages.

use dyno_record::RunState;

use crate::style::Paint;

/// Terminal color of a state.
pub(crate) fn paint(state: impl Into<RunState>) -> Paint {
    Paint::of_tone(tone(state)).expect("each state has a color")
}

/// The tone of a state in tables.
pub(crate) fn tone(state: impl Into<RunState>) -> &'static str {
    match state.into() {
        RunState::Valid | RunState::Running => "good",
        RunState::Imported => "foreign",
        RunState::Interrupted | RunState::Unknown => "warn",
        RunState::Invalid | RunState::Failed => "bad",
    }
}

/// Sentence shown with every imported result.
pub(crate) const IMPORTED: &str = "imported, not audited: Dyno did not measure these figures";
