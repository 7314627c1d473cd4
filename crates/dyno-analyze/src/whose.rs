//! Whose a figure is, where it is shown: one mark for what others had part in, and one legend for the mark.

use std::collections::BTreeMap;

use dyno_record::{RunRecord, Scope, Whose};

use crate::number::percent;
use crate::points::measure::Measure;

/// Stands behind every figure in which others had part, or where that cannot be excluded.
pub const MARK: &str = "†";

/// Metrics by name, with whose they are.
pub type Marked = BTreeMap<String, Whose>;

/// One figure under two names; whose it is may be told under either.
const SIBLINGS: [(&str, &str); 1] = [("redo_mb_per_s", "redo_bytes_per_s")];

/// Whose the figure `measure` of `record` is; absent for the run's own.
pub fn whose<'r>(record: &'r RunRecord, measure: &str) -> Option<&'r Whose> {
    let sibling = || {
        let (_, other) = SIBLINGS.iter().find(|(name, _)| *name == measure)?;
        record.whose.get(*other)
    };
    record.whose.get(measure).or_else(sibling)
}

/// Whether others had part in the figure `measure` of `record`, or that cannot be excluded.
pub fn is_marked(record: &RunRecord, measure: &str) -> bool {
    whose(record, measure).is_some_and(|whose| whose.marked)
}

/// The marked figures of a record.
pub fn marked(record: &RunRecord) -> Marked {
    let mut marked: Marked = record.whose.clone();
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
pub fn scope_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Run => "the run's",
        Scope::Database => "the whole database's",
        Scope::Server => "the whole server's",
        Scope::Host => "the whole host's",
    }
}

/// The one legend of the mark, gathered from run to run: each figure once. Where runs differ in how much others had, the
/// largest share is told.
#[derive(Debug, Clone, Default)]
pub struct Legend(Vec<(String, Scope, Option<f64>)>);

impl Legend {
    /// Adds what is marked of a run.
    pub fn add<'m>(&mut self, marked: impl IntoIterator<Item = (&'m String, &'m Whose)>) {
        for (name, whose) in marked.into_iter().filter(|(_, whose)| whose.marked) {
            let label = Measure::find(name).map_or(name.as_str(), |measure| measure.label);
            match self.0.iter_mut().find(|(known, ..)| known == label) {
                Some((_, scope, share)) => {
                    *scope = (*scope).max(whose.scope);
                    *share = (*share).into_iter().chain(whose.others_pct).reduce(f64::max);
                }
                None => self.0.push((label.to_owned(), whose.scope, whose.others_pct)),
            }
        }
    }

    /// The legend; none where no figure is marked.
    pub fn words(&self) -> Option<String> {
        let words = |(label, scope, share): &(String, Scope, Option<f64>)| match share {
            Some(share) => format!("{label} ({}; others {} %)", scope_words(*scope), percent(*share)),
            None => format!("{label} ({})", scope_words(*scope)),
        };
        let list: Vec<String> = self.0.iter().map(words).collect();
        let told = !list.is_empty();
        told.then(|| format!("{MARK} may include other load on this host or server: {}", list.join(", ")))
    }
}

/// The legend for the figures called `shown` of all runs.
pub fn legend<'m>(all: impl IntoIterator<Item = &'m Marked>, shown: impl Fn(&str) -> bool) -> Option<String> {
    let mut legend = Legend::default();
    all.into_iter().for_each(|marked| legend.add(marked.iter().filter(|(name, _)| shown(name))));
    legend.words()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    pub(crate) fn whose(scope: Scope, others_pct: Option<f64>, marked: bool) -> Whose {
        Whose { scope, others_pct, marked, why: "somebody else worked here".into() }
    }

    #[test]
    fn the_legend_tells_each_marked_figure_once_with_the_largest_share() {
        let mut one = fixture::postgres();
        one.whose.insert("redo_bytes_per_s".into(), whose(Scope::Server, Some(12.0), true));
        one.whose.insert("cpu_busy_pct".into(), whose(Scope::Host, None, true));
        one.whose.insert("commits_per_s".into(), whose(Scope::Database, Some(0.0), false));
        let mut two = one.clone();
        two.whose.insert("redo_bytes_per_s".into(), whose(Scope::Server, Some(34.0), true));
        assert_eq!(
            legend(&[marked(&one), marked(&two)], |_| true).unwrap(),
            "† may include other load on this host or server: CPU busy (the whole host's), redo (the whole server's; others 34.0 %)"
        );
        assert!(is_marked(&one, "redo_mb_per_s"), "the same figure in another unit");
        assert!(!is_marked(&one, "commits_per_s") && !is_marked(&one, "ops_per_s"));
        assert_eq!(legend(&[marked(&fixture::postgres())], |_| true), None);
        assert_eq!(unmarked(&mark("1,234".into(), true)), "1,234");
    }
}
