//! Shows the attribution of figures: one mark for figures with background activity, and one legend
//! for the mark.

use std::collections::BTreeMap;

use dyno_record::{Attribution, AttributionScope, RunRecord};

use crate::number::percent;
use crate::points::measure::Measure;

/// Follows every figure that includes background activity, or may include it.
pub const MARK: &str = "†";

/// What the mark means, wherever it is explained.
pub const MARK_MEANS: &str = "† may include other load or be slowed by it";

/// Metrics by name, with their attribution.
pub type MetricAttributions = BTreeMap<String, Attribution>;

/// One figure under two names; its attribution may be stored under either.
const SIBLINGS: [(&str, &str); 1] = [("redo_mb_per_s", "redo_bytes_per_s")];

/// The attribution of the figure `measure` of `record`; absent for the run's own.
pub fn attribution_of<'r>(record: &'r RunRecord, measure: &str) -> Option<&'r Attribution> {
    let sibling = || {
        let (_, other) = SIBLINGS.iter().find(|(name, _)| *name == measure)?;
        record.whose.get(*other)
    };
    record.whose.get(measure).or_else(sibling)
}

/// Whether the figure `measure` of `record` includes background activity, or that cannot be
/// excluded.
pub fn is_marked(record: &RunRecord, measure: &str) -> bool {
    attribution_of(record, measure).is_some_and(|whose| whose.marked)
}

/// The marked figures of a record.
pub fn marked_metrics(record: &RunRecord) -> MetricAttributions {
    let mut marked: MetricAttributions = record.whose.clone();
    for (name, other) in SIBLINGS {
        if let (Some(whose), false) = (record.whose.get(other), record.whose.contains_key(name)) {
            marked.insert(name.to_owned(), whose.clone());
        }
    }
    marked.retain(|_, whose| whose.marked);
    marked
}

/// `figure` with the mark behind it, if it is `marked`.
pub fn mark(figure: String, marked: bool) -> String {
    if marked { figure + MARK } else { figure }
}

/// The figure that a cell holds, without its mark.
pub fn unmarked(cell: &str) -> &str {
    cell.strip_suffix(MARK).unwrap_or(cell)
}

/// What a figure was counted over, in words.
pub fn scope_words(scope: AttributionScope) -> &'static str {
    match scope {
        AttributionScope::Run => "this run",
        AttributionScope::Database => "whole database",
        AttributionScope::Server => "whole server",
        AttributionScope::Host => "whole host",
    }
}

/// A marked figure of all runs so far.
#[derive(Debug, Clone)]
struct MarkedFigure {
    name: String,
    scope: AttributionScope,
    /// The largest share of others, %.
    others_pct: Option<f64>,
    /// Whether runs differ in that share.
    varies: bool,
    /// Runs in which it is marked.
    runs: usize,
}

impl MarkedFigure {
    /// Adds the attribution of the same figure elsewhere.
    fn merge(&mut self, scope: AttributionScope, others_pct: Option<f64>, varies: bool) {
        let shown = |share: Option<f64>| share.map(percent);
        self.varies |= varies || shown(self.others_pct) != shown(others_pct);
        self.scope = self.scope.max(scope);
        self.others_pct = self.others_pct.into_iter().chain(others_pct).reduce(f64::max);
    }

    /// Its name for readers, also where it is no measure: `context switches` of `context_switches_per_s`.
    fn label(&self) -> String {
        let suffixes = ["_per_s", "_us", "_pct"];
        let bare = || suffixes.iter().find_map(|suffix| self.name.strip_suffix(suffix)).unwrap_or(&self.name);
        Measure::find(&self.name).map_or_else(|| bare().replace('_', " "), |measure| measure.label.to_owned())
    }

    /// Its scope and share; `run_count` is the number of all runs.
    fn reason(&self, run_count: usize) -> String {
        let up_to = if self.varies || self.runs < run_count { "up to " } else { "" };
        match (self.scope, self.others_pct) {
            (scope, Some(share)) => {
                format!("{}; {up_to}{} % is other load", scope_words(scope), percent(share))
            }
            // Others add nothing to the run's own figures of speed.
            (AttributionScope::Run, None) => "slowed by other load".to_owned(),
            (scope, None) => scope_words(scope).to_owned(),
        }
    }
}

/// The one legend of the mark, collected from all runs: each figure once. Where runs differ in the
/// share of others, it says up to which.
#[derive(Debug, Clone, Default)]
pub struct Legend {
    figures: Vec<MarkedFigure>,
    /// Runs that were added.
    runs: usize,
}

impl Legend {
    /// Adds the marked figures of a run.
    pub fn add<'m>(&mut self, marked: impl IntoIterator<Item = (&'m String, &'m Attribution)>) {
        self.runs += 1;
        for (name, whose) in marked.into_iter().filter(|(_, whose)| whose.marked) {
            match self.figures.iter_mut().find(|known| known.name == *name) {
                Some(known) => {
                    known.merge(whose.scope, whose.others_pct, false);
                    known.runs += 1;
                }
                None => self.figures.push(MarkedFigure {
                    name: name.clone(),
                    scope: whose.scope,
                    others_pct: whose.others_pct,
                    varies: false,
                    runs: 1,
                }),
            }
        }
    }

    /// The legend of the figures whose name satisfies `shown`; `None` where none of them is marked.
    pub fn words(&self, shown: impl Fn(&str) -> bool) -> Option<String> {
        let mut by_label: Vec<(String, MarkedFigure)> = Vec::new();
        for figure in self.figures.iter().filter(|figure| shown(&figure.name)) {
            let label = figure.label();
            match by_label.iter_mut().find(|(known, _)| *known == label) {
                Some((_, known)) => known.merge(figure.scope, figure.others_pct, figure.varies),
                None => by_label.push((label, figure.clone())),
            }
        }
        // Figures of the same scope and share are named together.
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for (label, figure) in by_label {
            let reason = figure.reason(self.runs);
            match groups.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, labels)) => labels.push(label),
                None => groups.push((reason, vec![label])),
            }
        }
        let words = |(reason, labels): &(String, Vec<String>)| format!("{} ({reason})", labels.join(", "));
        let list: Vec<String> = groups.iter().map(words).collect();
        (!list.is_empty()).then(|| format!("{MARK_MEANS}: {}", list.join(", ")))
    }
}

/// The legend for the figures of all runs whose name satisfies `shown`.
pub fn legend<'m>(
    all: impl IntoIterator<Item = &'m MetricAttributions>,
    shown: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut legend = Legend::default();
    all.into_iter().for_each(|marked| legend.add(marked));
    legend.words(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    pub(crate) fn make_attribution(
        scope: AttributionScope,
        others_pct: Option<f64>,
        marked: bool,
    ) -> Attribution {
        Attribution { scope, others_pct, marked, why: "somebody else worked here".into() }
    }

    #[test]
    fn attribution_legend_lists_each_figure_once_with_largest_share() {
        let mut first_run = fixture::postgres();
        first_run
            .whose
            .insert("redo_bytes_per_s".into(), make_attribution(AttributionScope::Server, Some(12.0), true));
        first_run.whose.insert("cpu_busy_pct".into(), make_attribution(AttributionScope::Host, None, true));
        first_run
            .whose
            .insert("commits_per_s".into(), make_attribution(AttributionScope::Database, Some(0.0), false));
        let mut two = first_run.clone();
        two.whose
            .insert("redo_bytes_per_s".into(), make_attribution(AttributionScope::Server, Some(34.0), true));
        assert_eq!(
            legend(&[marked_metrics(&first_run), marked_metrics(&two)], |_| true).unwrap(),
            "† may include other load or be slowed by it: CPU busy (whole host), \
             redo (whole server; up to 34.0 % is other load)"
        );
        first_run.whose.insert(
            "context_switches_per_s".into(),
            make_attribution(AttributionScope::Host, Some(34.0), true),
        );
        let legend_of = |shown: fn(&str) -> bool| legend(&[marked_metrics(&first_run)], shown).unwrap();
        assert!(
            legend_of(|name| name.starts_with("context"))
                .ends_with("context switches (whole host; 34.0 % is other load)")
        );
        assert!(!legend_of(|name| name == "cpu_busy_pct").contains("context"));
        let unmarked_run = marked_metrics(&fixture::postgres());
        let of_two = legend(&[marked_metrics(&first_run), unmarked_run], |name| name.starts_with("context"));
        assert!(of_two.unwrap().ends_with("context switches (whole host; up to 34.0 % is other load)"));
        assert!(is_marked(&first_run, "redo_mb_per_s"), "the same figure in another unit");
        assert!(!is_marked(&first_run, "commits_per_s"));
        assert!(!is_marked(&first_run, "ops_per_s"));
        assert_eq!(legend(&[marked_metrics(&fixture::postgres())], |_| true), None);
        assert_eq!(unmarked(&mark("1,234".into(), true)), "1,234");
    }
}
