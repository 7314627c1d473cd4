//! Whether anything changed under the run: a setting of the database, or what the test tables are made of.
//!
//! Half of a window under one setting and half under another is a figure of neither, and nothing in it shows that. So is one
//! in which an index was created. Each snapshot is compared with the one before, so what was changed and changed back is here.

use dyno_record::{Change, CheckStatus, Counters, MarkKind, RELOADED, SETTINGS, SHAPE};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};

/// Things named in one sentence; the record holds the others.
const NAMED_MAX: usize = 4;

/// The first names, and how many more there are.
pub(super) fn some_of(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Both intervals that have counters, by name. One of which none was read shows no change, whatever happened.
pub(super) fn intervals<'a>(facts: &Facts<'a>) -> Vec<(&'static str, &'a Counters)> {
    let window = facts.record.window.as_ref().map(|_| ("window", &facts.record.counters));
    let whole = facts.record.whole.as_ref().map(|whole| ("whole run", &whole.counters));
    let is_read =
        |(_, counters): &(&str, &Counters)| !counters.portable.is_empty() || !counters.native.is_empty();
    window.into_iter().chain(whole).filter(is_read).collect()
}

/// A moment of an interval, short.
pub(super) fn span(seconds: f64) -> String {
    format!("{seconds:.1} s")
}

fn moment(change: &Change) -> String {
    change.seen_s.map(|seen_s| format!(", seen at {}", span(seen_s))).unwrap_or_default()
}

/// What a mark was and became, and when that was seen.
pub(super) fn change_words(change: &Change) -> String {
    let word = |mark: &Option<String>| match mark.as_deref() {
        None => "absent".to_owned(),
        Some("") => "empty".to_owned(),
        Some(value) => value.to_owned(),
    };
    format!("{} was {} and became {}{}", change.name, word(&change.from), word(&change.to), moment(change))
}

/// The same of a table or index, whose marks are numbers that say nothing to a reader.
fn shape_words(change: &Change) -> String {
    let verb = match (&change.from, &change.to) {
        (None, _) => "was created",
        (_, None) => "was dropped",
        _ => "was changed",
    };
    format!("{} {verb}{}", change.name, moment(change))
}

/// What changed on a target, for whoever watches a run.
pub fn changed_words(change: &Change) -> String {
    if change.kind == MarkKind::Shape { shape_words(change) } else { change_words(change) }
}

/// One kind of change: what to look for, and how to say what was found.
struct Kind {
    kind: MarkKind,
    /// Its name where it could not be read.
    source: &'static str,
    words: fn(&Change) -> String,
    /// What a change of it does to a run.
    so: &'static str,
    none: &'static str,
}

fn look(facts: &Facts<'_>, kind: &Kind) -> Verdict {
    let intervals = intervals(facts);
    if intervals.is_empty() {
        return skip("there are no counters");
    }
    for (name, counters) in &intervals {
        let is_known = |change: &&Change| change.name != RELOADED;
        let changes: Vec<String> = counters.changed(kind.kind).filter(is_known).map(kind.words).collect();
        if changes.is_empty() {
            continue;
        }
        let (status, when, so) = match *name {
            "window" => (CheckStatus::Fail, "in the window", kind.so),
            _ => (CheckStatus::Warn, "before or after the window", "the window itself is of one piece"),
        };
        let detail = format!("changed {when}: {}; {so}", some_of(&changes));
        return found(status, "no change", some_of(&changes), detail);
    }
    match intervals.iter().find_map(|(_, counters)| counters.unread.get(kind.source)) {
        Some(reason) => skip(reason.clone()),
        None => found(CheckStatus::Pass, "no change", "no change", kind.none),
    }
}

/// Whether the run began on rows that lie as they were loaded.
pub(super) fn data(facts: &Facts<'_>) -> Verdict {
    let Some(target) = facts.record.targets.first().filter(|target| target.data.is_some()) else {
        return skip("the record does not say which data it worked on");
    };
    let Some(note) = &target.data_note else {
        // What a leader that was lost had seen of its data, nobody knows.
        if let (Some(_), Err(skipped)) = (&facts.record.fleet, facts.window()) {
            return Err(skipped);
        }
        return found(
            CheckStatus::Pass,
            "as loaded",
            "as loaded",
            "rows of a sample were what was loaded, each in its place",
        );
    };
    let detail = format!(
        "{note}: operations on more than one row take fewer blocks, and blocks that lie closer, than on data that was loaded \
         anew; `dyno load --replace` spreads the rows again"
    );
    found(CheckStatus::Warn, "as loaded", "moved by updates", detail)
}

/// Settings of the database.
pub(super) fn settings(facts: &Facts<'_>) -> Verdict {
    let is_reload = |change: &Change| change.name == RELOADED;
    // A server that starts reads its settings, which is no change of them.
    let changed = |counters: &Counters| {
        let restarted = counters.changed(MarkKind::Epoch).next().is_some();
        restarted || counters.changed(MarkKind::Setting).any(|change| !is_reload(change))
    };
    let in_window = facts.record.window.as_ref().map(|_| &facts.record.counters);
    if let Some(reload) = in_window
        .filter(|window| !changed(window))
        .and_then(|window| window.changed(MarkKind::Setting).find(|change| is_reload(change)))
    {
        let detail = format!(
            "settings were set in the window{}, and snapshots show none that differs; one that changed and changed back \
             between two snapshots is not seen",
            moment(reload)
        );
        return found(CheckStatus::Warn, "no change", "settings were set", detail);
    }
    look(
        facts,
        &Kind {
            kind: MarkKind::Setting,
            source: SETTINGS,
            words: change_words,
            so: "figures before and after are of different platforms",
            none: "no setting changed from one snapshot to the next",
        },
    )
}

/// Tables, indexes, triggers, rules, constraints and publications of the test data.
pub(super) fn shape(facts: &Facts<'_>) -> Verdict {
    if facts.record.workloads().any(|own| own.defines) {
        return skip("the workload itself makes, changes or drops tables while it runs");
    }
    look(
        facts,
        &Kind {
            kind: MarkKind::Shape,
            source: SHAPE,
            words: shape_words,
            so: "operations before and after did different work",
            none: "tables and indexes of the run did not change; no triggers or indexes were added",
        },
    )
}
