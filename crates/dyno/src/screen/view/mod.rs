//! Draws the screen and lays out its panels at any size.
//!
//! | file | what it draws |
//! | --- | --- |
//! | `head` | the first two lines: command, phase, remaining time |
//! | `throughput` | throughput and response times over several stretches, and their history |
//! | `latency` | response times of the last complete interval in bands |
//! | `waits` | what sessions waited for |
//! | `machine` | processors, devices and the database's rates |
//! | `audit` | errors, findings so far, and the previous run |
//! | `runs` | the grid of a sweep, or the ended runs |
//! | `load` | progress of a load |
//! | `help` | help on keys |

mod audit;
mod head;
mod help;
mod latency;
mod load;
mod machine;
mod runs;
mod style;
mod throughput;
mod waits;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

pub(crate) use style::ScreenStyle;

use super::state::{Panel, ScreenState};

/// Minimum width and height for panels.
const SIZE_MIN: (u16, u16) = (60, 16);
/// Width from which three panels are side by side.
const WIDE: u16 = 120;

/// Draws everything, `now_s` after the screen began.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &ScreenState, look: &ScreenStyle, now_s: f64) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    frame.render_widget(Paragraph::new(head::lines(state, look, now_s, area.width)), head);
    frame.render_widget(Paragraph::new(help::foot(state, look, area.width)), foot);
    if area.width < SIZE_MIN.0 || area.height < SIZE_MIN.1 {
        let words = format!("panels need {} columns and {} lines", SIZE_MIN.0, SIZE_MIN.1);
        frame.render_widget(Paragraph::new(Line::styled(words, look.dim())), body);
        return;
    }
    if state.help {
        help::draw(frame, body, state, look);
    } else if let Some(panel) = state.zoom {
        one(frame, body, panel, state, look);
    } else if state.progress.load_phase().is_some() && !state.is_several() {
        load::draw(frame, body, &state.progress, look, now_s);
    } else if area.width >= WIDE {
        draw_wide(frame, body, state, look);
    } else {
        narrow(frame, body, state, look);
    }
}

fn one(frame: &mut Frame<'_>, area: Rect, panel: Panel, state: &ScreenState, look: &ScreenStyle) {
    match panel {
        Panel::Throughput => throughput::draw(frame, area, state, look),
        Panel::Latency => latency::draw(frame, area, state, look),
        Panel::Waits => waits::draw(frame, area, state, look),
        Panel::Machine => machine::draw(frame, area, state, look),
        Panel::Audit => audit::draw(frame, area, state, look),
        Panel::Runs => runs::draw(frame, area, state, look),
    }
}

/// Two panels side by side, in three rows.
fn narrow(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    // If there is room, the history is taller.
    let more = area.height.saturating_sub(21) * 3 / 5;
    let rows = Layout::vertical([Constraint::Length(8 + more), Constraint::Length(7), Constraint::Min(4)]);
    let rows = rows.split(area);
    let halves =
        |area| Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).split(area);
    let (top, middle) = (halves(rows[0]), halves(rows[1]));
    throughput::draw(frame, top[0], state, look);
    latency::draw(frame, top[1], state, look);
    waits::draw(frame, middle[0], state, look);
    machine::draw(frame, middle[1], state, look);
    if state.is_several() {
        let bottom = halves(rows[2]);
        runs::draw(frame, bottom[0], state, look);
        audit::draw(frame, bottom[1], state, look);
    } else {
        audit::draw(frame, rows[2], state, look);
    }
}

/// Three panels side by side.
fn draw_wide(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let rows = Layout::vertical([Constraint::Percentage(38), Constraint::Min(0)]).split(area);
    let thirds = Layout::horizontal([
        Constraint::Percentage(40),
        Constraint::Percentage(30),
        Constraint::Percentage(30),
    ]);
    let (top, bottom) = (thirds.split(rows[0]), rows[1]);
    throughput::draw(frame, top[0], state, look);
    latency::draw(frame, top[1], state, look);
    waits::draw(frame, top[2], state, look);
    if state.is_several() {
        let below = Layout::horizontal([
            Constraint::Percentage(45),
            Constraint::Percentage(25),
            Constraint::Percentage(30),
        ]);
        let below = below.split(bottom);
        runs::draw(frame, below[0], state, look);
        machine::draw(frame, below[1], state, look);
        audit::draw(frame, below[2], state, look);
    } else {
        let below =
            Layout::horizontal([Constraint::Percentage(40), Constraint::Percentage(60)]).split(bottom);
        machine::draw(frame, below[0], state, look);
        audit::draw(frame, below[1], state, look);
    }
}
