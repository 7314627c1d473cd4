//! What sessions waited for, largest first.

use dyno_analyze::audit::{SEEN_LITTLE, seen_little};
use dyno_record::{RunRecord, Waits, Window};

use super::lists::more;
use crate::bars::bar;
use crate::number::{count, figure, percent, within};
use crate::style::{Paint, Style};
use crate::text::{clean, pad, truncate, width, wrap};

/// Events shown.
const EVENTS_MAX: usize = 12;

/// Columns of an event's name, and of its bar.
const NAME_COLUMNS: usize = 32;
const BAR_COLUMNS: usize = 40;

/// Events with bars, or why there are none.
pub(super) fn waits(record: &RunRecord, style: &Style) -> String {
    let (samples, active, events) = match &record.waits {
        Waits::Absent { absent } => {
            return wrap(&format!("none: {}", clean(absent)), style.columns(), 4)
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
        }
        Waits::Sampled { samples, average_active_sessions, events, .. } => {
            (*samples, *average_active_sessions, events)
        }
    };
    let head = format!("{} sessions active on average over {} samples", figure(active), count(samples));
    let mut out = format!("{}\n", style.paint(Paint::Dim, &head));
    let busy = record.window.as_ref().and_then(Window::busy_sessions);
    if let Some(busy) = busy.filter(|busy| seen_little(active, *busy)) {
        let words = format!("the client saw {} busy: {SEEN_LITTLE}", figure(busy));
        for line in wrap(&words, style.columns(), 2) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    for event in events.iter().take(EVENTS_MAX) {
        let name = if event.class == event.event {
            clean(&event.event)
        } else {
            format!("{}:{}", clean(&event.class), clean(&event.event))
        };
        let name = truncate(&name, NAME_COLUMNS);
        let line = format!(
            "{name}{}  {:>7}  {:>5} %  {}",
            pad(NAME_COLUMNS - width(&name)),
            within(event.average_sessions, 7),
            percent(event.share_pct.clamp(0.0, 100.0)),
            bar(event.share_pct / 100.0, BAR_COLUMNS.min(style.columns().saturating_sub(56)))
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&more(events.len(), EVENTS_MAX, style));
    out
}
