//! Wait events of sessions, largest first.

use dyno_analyze::audit::{SEEN_LITTLE, samples_miss_most};
use dyno_record::{ForeignActivity, OtherSessions, RunRecord, Waits, Window};

use super::lists::more;
use crate::content::timed_events::{EVENTS_MAX, sampled_events};
use crate::number::{count, figure};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

const OTHERS_MAX: usize = 4;

/// Events with bars, or why there are none.
pub(super) fn waits(record: &RunRecord, style: &Style) -> String {
    let (samples, active, events, company) = match &record.waits {
        Waits::Absent { absent } => {
            return wrap(&format!("none: {}", clean(absent)), style.columns(), 4)
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
        }
        Waits::Sampled { samples, average_active_sessions, events, company, .. } => {
            (*samples, *average_active_sessions, events, company)
        }
    };
    let head = format!("{} sessions active on average over {} samples", figure(active), count(samples));
    let mut out = format!("{}\n", style.paint(Paint::Dim, &head));
    let busy = record.window.as_ref().and_then(Window::busy_sessions);
    if let Some(busy) = busy.filter(|busy| samples_miss_most(active, *busy)) {
        let words = format!("the client saw {} busy: {SEEN_LITTLE}", figure(busy));
        for line in wrap(&words, style.columns(), 2) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    for line in wrap(&others_words(company), style.columns(), 2) {
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
    }
    out.extend(sampled_events(record).map(|(grid, _)| grid.render(style)));
    out.push_str(&more(events.len(), EVENTS_MAX, style));
    out
}

/// Other programs active on the server.
fn others_words(company: &ForeignActivity) -> String {
    let (active, seen) = match company {
        ForeignActivity::Absent { absent } => {
            return format!("other sessions on the server: unknown, {}", clean(absent));
        }
        ForeignActivity::Sampled { average_active_sessions, seen } => (*average_active_sessions, seen),
    };
    if seen.is_empty() {
        return "other sessions on the server: none seen".to_owned();
    }
    let word = |other: &OtherSessions| {
        let program = if other.program.is_empty() { "sessions" } else { &other.program };
        let place = match (other.here, other.database.as_str()) {
            (true, _) => "this database".to_owned(),
            (false, "") => "the server".to_owned(),
            (false, database) => format!("database {}", clean(database)),
        };
        format!("{} in {place} {}", clean(program), figure(other.average_sessions))
    };
    let words: Vec<String> = seen.iter().take(OTHERS_MAX).map(word).collect();
    let rest = seen.len().saturating_sub(OTHERS_MAX);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("other sessions on the server: {} active on average: {}{rest}", figure(active), words.join(", "))
}
