//! Checks that nothing changed during the run: neither database settings nor the structure of the
//! test tables.
//!
//! A figure measured half under one setting and half under another describes neither. The figure
//! itself does not show that. The same holds where an index was created in the window. Each
//! snapshot is compared with the one before, so a change that was reverted is found too.

use dyno_record::{CheckStatus, Counters, MarkChange, MarkKind, RELOADED, SETTINGS, SHAPE};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};

/// Most changes named in one sentence; the record holds all of them.
const NAMED_MAX: usize = 4;

/// The first names, and the number of the others.
pub(super) fn list_some(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The intervals that have counters, by name. An interval without counters shows no change,
/// whatever happened.
pub(super) fn intervals<'a>(facts: &AuditFacts<'a>) -> Vec<(&'static str, &'a Counters)> {
    let window = facts.record.window.as_ref().map(|_| ("window", &facts.record.counters));
    let whole = facts.record.whole.as_ref().map(|whole| ("whole run", &whole.counters));
    let is_read =
        |(_, counters): &(&str, &Counters)| !counters.portable.is_empty() || !counters.native.is_empty();
    window.into_iter().chain(whole).filter(is_read).collect()
}

/// A moment of an interval, in short form.
pub(super) fn span(seconds: f64) -> String {
    format!("{seconds:.1} s")
}

fn moment(change: &MarkChange) -> String {
    change.seen_s.map(|seen_s| format!(", seen at {}", span(seen_s))).unwrap_or_default()
}

/// The old and the new value of a mark, and when the change was seen.
pub(super) fn change_words(change: &MarkChange) -> String {
    let word = |mark: &Option<String>| match mark.as_deref() {
        None => "absent".to_owned(),
        Some("") => "empty".to_owned(),
        Some(value) => value.to_owned(),
    };
    format!("{} was {} and became {}{}", change.name, word(&change.from), word(&change.to), moment(change))
}

/// Words for a change of a table or index. Its marks are numbers without a meaning for readers, so
/// they are left out.
fn shape_words(change: &MarkChange) -> String {
    let verb = match (&change.from, &change.to) {
        (None, _) => "was created",
        (_, None) => "was dropped",
        _ => "was changed",
    };
    format!("{} {verb}{}", change.name, moment(change))
}

/// What changed on a target, for a live display of a run.
pub fn changed_words(change: &MarkChange) -> String {
    if change.kind == MarkKind::Shape { shape_words(change) } else { change_words(change) }
}

/// One kind of change: what to look for, and how to word the finding.
struct Kind {
    kind: MarkKind,
    /// Name of this source among the counters that could not be read.
    source: &'static str,
    words: fn(&MarkChange) -> String,
    /// How such a change affects the run.
    so: &'static str,
    none: &'static str,
}

fn judge_changes(facts: &AuditFacts<'_>, kind: &Kind) -> AuditCheckResult {
    let intervals = intervals(facts);
    if intervals.is_empty() {
        return skip("no counters were read");
    }
    for (name, counters) in &intervals {
        let is_known = |change: &&MarkChange| change.name != RELOADED;
        let changes: Vec<String> = counters.changed(kind.kind).filter(is_known).map(kind.words).collect();
        if changes.is_empty() {
            continue;
        }
        let (status, when, so) = match *name {
            "window" => (CheckStatus::Fail, "in the window", kind.so),
            _ => (CheckStatus::Warn, "before or after the window", "nothing changed inside the window"),
        };
        let detail = format!("changed {when}: {}; {so}", list_some(&changes));
        return conclude(status, "no change", list_some(&changes), detail);
    }
    match intervals.iter().find_map(|(_, counters)| counters.unread.get(kind.source)) {
        Some(reason) => skip(reason.clone()),
        None => conclude(CheckStatus::Pass, "no change", "no change", kind.none),
    }
}

/// Whether the rows were still in place as loaded when the run began.
pub(super) fn data(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let Some(target) = facts.record.targets.first().filter(|target| target.data.is_some()) else {
        return skip("the record does not state which data it used");
    };
    let Some(note) = &target.data_note else {
        // The controller was lost, and with it what it had seen of the data.
        if let (Some(_), Err(skipped)) = (&facts.record.fleet, facts.window()) {
            return Err(skipped);
        }
        return conclude(
            CheckStatus::Pass,
            "as loaded",
            "as loaded",
            "all sampled rows are unchanged and in their original blocks",
        );
    };
    let detail = format!(
        "{note}: operations on more than one row touch fewer and closer blocks than on newly loaded data; \
         `dyno load --replace` spreads the rows again"
    );
    conclude(CheckStatus::Warn, "as loaded", "moved by updates", detail)
}

/// Whether a database setting changed during the run.
pub(super) fn settings(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let is_reload = |change: &MarkChange| change.name == RELOADED;
    // A restarting server reads its settings; that is not a change of settings.
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
            "settings were set in the window{}, but no two snapshots differ; a setting that was changed and \
             changed back between two snapshots is not seen",
            moment(reload)
        );
        return conclude(CheckStatus::Warn, "no change", "settings were set", detail);
    }
    judge_changes(
        facts,
        &Kind {
            kind: MarkKind::Setting,
            source: SETTINGS,
            words: change_words,
            so: "figures before and after describe different platforms",
            none: "no setting changed from one snapshot to the next",
        },
    )
}

/// Whether tables, indexes, triggers, rules, constraints or publications of the test data changed.
pub(super) fn shape(facts: &AuditFacts<'_>) -> AuditCheckResult {
    if facts.record.workloads().any(|own| own.defines) {
        return skip("the workload itself creates, changes or drops tables while it runs");
    }
    judge_changes(
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
