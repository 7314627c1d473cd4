//! What a key asks.

use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

use super::state::{Phase, State};

/// What somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    Nothing,
    Stop,
    Pause,
    Skip,
    Zoom,
    All,
    Help,
    /// The terminal has another size, or its content is lost.
    Anew,
}

/// What an event of the terminal asks, as things are.
pub(crate) fn meant(event: &Event, state: &State) -> Meant {
    let key = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key,
        Event::Resize(..) => return Meant::Anew,
        _ => return Meant::Nothing,
    };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Meant::Stop,
        KeyCode::Char('l') if control => Meant::Anew,
        _ if control => Meant::Nothing,
        KeyCode::Char('q') => {
            if state.asked.stop {
                Meant::Nothing
            } else {
                Meant::Stop
            }
        }
        KeyCode::Char('p') if state.is_several() => Meant::Pause,
        KeyCode::Char('s') if state.skips() && is_under_way(state) => Meant::Skip,
        KeyCode::Char('z') | KeyCode::Tab => Meant::Zoom,
        KeyCode::Esc => Meant::All,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Meant::Help,
        _ => Meant::Nothing,
    }
}

/// Whether a run can be broken off.
fn is_under_way(state: &State) -> bool {
    matches!(state.run.phase, Phase::Connecting(..) | Phase::Warmup(_) | Phase::Window)
}
