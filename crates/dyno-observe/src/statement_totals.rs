//! Adds up what the counts of statements rose by between consecutive readings.

use std::collections::HashMap;

use dyno_engine::statement_counts::STATEMENTS_MAX;
use dyno_engine::{CumulativeStatement, StatementDescription, StatementSnapshot};
use dyno_record::{CountedStatements, StatementCounts, StatementGroup, StatementUse, TopStatements};

/// Statements that are described beyond the listed ones: those by which Dyno observes are not listed.
const SPARE: usize = 20;

/// What the counts of each statement rose by so far.
#[derive(Debug)]
pub(crate) struct StatementTotals {
    last: StatementSnapshot,
    last_ns: u64,
    totals: HashMap<String, StatementTotal>,
    /// Statements that are not kept separately any more.
    folded: StatementGroup,
    covered_ns: u64,
    evictions: u64,
    vanished: u64,
    resets: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct StatementTotal {
    counts: StatementCounts,
    at_least: bool,
}

impl StatementTotals {
    /// Counts from `first` on, which was read at `at_ns`.
    pub(crate) fn begin(first: StatementSnapshot, at_ns: u64) -> Self {
        Self {
            last: first,
            last_ns: at_ns,
            totals: HashMap::new(),
            folded: StatementGroup::default(),
            covered_ns: 0,
            evictions: 0,
            vanished: 0,
            resets: 0,
        }
    }

    /// Counts on from `next`.
    fn resume(&mut self, next: StatementSnapshot, at_ns: u64) {
        (self.last, self.last_ns) = (next, at_ns);
    }

    /// Adds what the counts rose by until `next`.
    pub(crate) fn add(&mut self, next: StatementSnapshot, at_ns: u64) {
        if next.epoch != self.last.epoch {
            self.resets += 1;
            return self.resume(next, at_ns);
        }
        let evictions = next.evictions.zip(self.last.evictions).map_or(0, |(a, b)| a.saturating_sub(b));
        self.evictions += evictions;
        for (key, now) in &next.statements {
            let (counts, at_least) = rise(now, self.last.statements.get(key), evictions > 0);
            if counts.calls > 0 || counts.time_s > 0.0 {
                let total = self.totals.entry(key.clone()).or_default();
                total.counts = total.counts.plus(counts);
                total.at_least |= at_least;
            }
        }
        self.vanished +=
            self.last.statements.keys().filter(|key| !next.statements.contains_key(*key)).count() as u64;
        self.covered_ns += at_ns.saturating_sub(self.last_ns);
        self.resume(next, at_ns);
        if self.totals.len() > STATEMENTS_MAX {
            self.fold();
        }
    }

    /// Keeps only the half of the statements with more time separately.
    fn fold(&mut self) {
        let keys: Vec<String> =
            self.by_time().into_iter().skip(STATEMENTS_MAX / 2).map(str::to_owned).collect();
        for key in keys {
            let total = self.totals.remove(&key).unwrap_or_default();
            add_to(&mut self.folded, total.counts);
        }
    }

    /// All statements, those with the most time first.
    fn by_time(&self) -> Vec<&str> {
        let mut all: Vec<(&str, f64)> =
            self.totals.iter().map(|(key, total)| (key.as_str(), total.counts.time_s)).collect();
        all.sort_by(|(key, time), (other, other_time)| other_time.total_cmp(time).then(key.cmp(other)));
        all.into_iter().map(|(key, _)| key).collect()
    }

    /// The statements that a list may show.
    pub(crate) fn candidates(&self) -> Vec<&str> {
        let mut keys = self.by_time();
        keys.truncate(CountedStatements::LISTED_MAX + SPARE);
        keys
    }

    /// The result, with what is known about its [`Self::candidates`].
    pub(crate) fn finish(&self, descriptions: Vec<StatementDescription>) -> TopStatements {
        if self.covered_ns == 0 {
            return TopStatements::Absent {
                absent: match self.resets {
                    0 => "the counts of statements were read only once".to_owned(),
                    _ => "the counts of statements were reset in this time".to_owned(),
                },
                hint: String::new(),
            };
        }
        let mut described: HashMap<String, StatementDescription> =
            descriptions.into_iter().map(|one| (one.key.clone(), one)).collect();
        let mut result = CountedStatements {
            source: self.last.source.clone(),
            seconds: self.covered_ns as f64 / 1e9,
            notes: self.notes(),
            ..CountedStatements::default()
        };
        let (mut rest, mut monitoring) = (self.folded.clone(), StatementGroup::default());
        for key in self.by_time() {
            let StatementTotal { counts, at_least } = self.totals[key];
            let description = described.remove(key);
            if description.as_ref().is_some_and(|one| one.is_monitoring) {
                add_to(&mut monitoring, counts);
            } else if result.statements.len() < CountedStatements::LISTED_MAX {
                let StatementDescription { id, text, database, user, .. } =
                    description.unwrap_or_else(|| StatementDescription {
                        id: key.to_owned(),
                        ..StatementDescription::default()
                    });
                let text = text.map(|text| {
                    without_strings(&text).chars().take(CountedStatements::TEXT_MAX).collect::<String>()
                });
                result.statements.push(StatementUse {
                    id,
                    text,
                    operation: None,
                    database,
                    user,
                    at_least,
                    counts,
                });
            } else {
                add_to(&mut rest, counts);
            }
        }
        result.rest = (rest.statements > 0).then_some(rest);
        result.monitoring = (monitoring.statements > 0).then_some(monitoring);
        TopStatements::Counted(Box::new(result))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.last.notes.clone();
        if self.resets > 0 {
            notes.push(format!(
                "the counts were reset {} times; what ran until the next reading is missing",
                self.resets
            ));
        }
        let overflow = self.last.overflow.as_ref();
        if let Some((overflow, total)) = overflow.and_then(|one| Some((one, self.totals.get(&one.key)?))) {
            notes.push(format!(
                "the server counted {} executions without their statements: {}",
                total.counts.calls, overflow.hint
            ));
        }
        if self.evictions > 0 {
            notes.push(format!(
                "the server discarded rare statements {} times in this time, so their figures may be too low",
                self.evictions
            ));
        } else if self.vanished > 0 {
            notes.push(format!(
                "{} statements left the statistics in this time; what they did since the reading before is \
                 missing",
                self.vanished
            ));
        }
        notes
    }
}

/// What a statement's counts rose by since `earlier`, and whether it may be more, because the server
/// counted it from 0 again.
fn rise(
    now: &CumulativeStatement,
    earlier: Option<&CumulativeStatement>,
    has_evictions: bool,
) -> (StatementCounts, bool) {
    let Some(earlier) = earlier else { return (now.counts, has_evictions) };
    let rise = now.counts.since(earlier.counts).filter(|_| now.since == earlier.since);
    rise.map_or((now.counts, true), |rise| (rise, false))
}

/// The text without the content of its strings: servers keep the values of some statements, such as passwords.
/// It ends where a string between dollar signs may begin, as in `$$` or `$tag$`; `$1` is a parameter.
fn without_strings(text: &str) -> String {
    let mut kept = without_quoted_strings(text);
    let is_value = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
    if let Some((begin, _)) = kept.match_indices('$').find(|(place, _)| is_value(&kept[place + 1..])) {
        kept.truncate(begin);
        kept.push_str("$…");
    }
    kept
}

fn without_quoted_strings(text: &str) -> String {
    let Some((before, strings)) = text.split_once('\'') else { return text.to_owned() };
    // Where a backslash may stand before a quote, it is unclear where the string ends.
    if strings.contains("\\'") {
        return format!("{before}'…'");
    }
    let parts = text.split('\'').enumerate();
    let kept = parts.map(|(place, part)| match place % 2 {
        0 => part,
        _ => "'…'",
    });
    kept.collect()
}

fn add_to(group: &mut StatementGroup, counts: StatementCounts) {
    group.statements += 1;
    group.counts = group.counts.plus(counts);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(epoch: &str, evictions: u64, statements: &[(&str, &str, u64, f64)]) -> StatementSnapshot {
        let statement = |(key, since, calls, time_s): &(&str, &str, u64, f64)| {
            let counts = StatementCounts { calls: *calls, time_s: *time_s, ..StatementCounts::default() };
            ((*key).to_owned(), CumulativeStatement { since: (*since).to_owned(), counts })
        };
        StatementSnapshot {
            source: "statistics".into(),
            epoch: epoch.into(),
            evictions: Some(evictions),
            overflow: None,
            statements: statements.iter().map(statement).collect(),
            notes: Vec::new(),
        }
    }

    fn described(key: &str, is_monitoring: bool) -> StatementDescription {
        StatementDescription { key: key.into(), id: format!("id {key}"), is_monitoring, ..Default::default() }
    }

    fn counted(totals: &StatementTotals, own: &[&str]) -> CountedStatements {
        let descriptions = own.iter().map(|key| described(key, true)).collect();
        match totals.finish(descriptions) {
            TopStatements::Counted(counted) => *counted,
            absent @ TopStatements::Absent { .. } => panic!("{absent:?}"),
        }
    }

    fn listed(result: &CountedStatements) -> Vec<(&str, u64, bool)> {
        result.statements.iter().map(|one| (one.id.as_str(), one.counts.calls, one.at_least)).collect()
    }

    #[test]
    fn statements_are_listed_by_time_without_monitoring() {
        let first = snapshot("e", 0, &[("a", "", 10, 1.0), ("b", "", 5, 9.0), ("own", "", 1, 1.0)]);
        let mut totals = StatementTotals::begin(first, 0);
        let next = [("a", "", 12, 4.0), ("b", "", 5, 9.0), ("own", "", 2, 90.0), ("new", "", 3, 2.0)];
        totals.add(snapshot("e", 0, &next), 2_000_000_000);
        let result = counted(&totals, &["own"]);
        assert_eq!(listed(&result), [("a", 2, false), ("new", 3, false)], "b did nothing");
        assert_eq!(result.monitoring.as_ref().map(|own| own.counts.calls), Some(1));
        assert_eq!((result.seconds, result.total().calls, result.total().time_s), (2.0, 5, 5.0));
    }

    #[test]
    fn statement_counted_from_zero_is_a_lower_limit() {
        let first =
            snapshot("e", 0, &[("fell", "", 10, 1.0), ("restarted", "t1", 10, 1.0), ("gone", "", 1, 1.0)]);
        let mut totals = StatementTotals::begin(first, 0);
        let next = [("fell", "", 4, 0.5), ("restarted", "t2", 20, 3.0), ("entered", "", 2, 0.1)];
        totals.add(snapshot("e", 7, &next), 1_000_000_000);
        let result = counted(&totals, &[]);
        assert_eq!(listed(&result), [("restarted", 20, true), ("fell", 4, true), ("entered", 2, true)]);
        assert!(result.notes[0].contains("discarded rare statements 7 times"), "{:?}", result.notes);
    }

    #[test]
    fn reset_counts_give_no_figures_of_that_time() {
        let mut totals = StatementTotals::begin(snapshot("e1", 0, &[("a", "", 10, 1.0)]), 0);
        totals.add(snapshot("e2", 0, &[("a", "", 90, 9.0)]), 1_000_000_000);
        assert!(
            matches!(totals.finish(Vec::new()), TopStatements::Absent { absent, .. } if absent.contains("reset"))
        );
        totals.add(snapshot("e2", 0, &[("a", "", 91, 9.5)]), 3_000_000_000);
        let result = counted(&totals, &[]);
        assert_eq!((listed(&result), result.seconds), (vec![("a", 1, false)], 2.0));
        assert!(result.notes[0].contains("reset 1 times"));
    }

    #[test]
    fn statements_beyond_a_full_list_are_counted_with_a_note() {
        let overflow = dyno_engine::statement_counts::StatementOverflow {
            key: "all".into(),
            hint: "make it larger".into(),
        };
        let full = |statements| StatementSnapshot {
            overflow: Some(overflow.clone()),
            ..snapshot("e", 0, statements)
        };
        let mut totals = StatementTotals::begin(full(&[("a", "", 1, 1.0)]), 0);
        totals.add(full(&[("a", "", 2, 1.5)]), 1_000_000_000);
        assert!(counted(&totals, &[]).notes.is_empty());
        totals.add(full(&[("a", "", 2, 1.5), ("all", "", 7, 4.0)]), 2_000_000_000);
        let result = counted(&totals, &[]);
        assert_eq!((listed(&result)[0], result.total().calls), (("all", 7, false), 8));
        assert_eq!(
            result.notes,
            ["the server counted 7 executions without their statements: make it larger"]
        );
    }

    #[test]
    fn strings_in_texts_are_removed() {
        assert_eq!(without_strings("SELECT $1"), "SELECT $1");
        assert_eq!(without_strings("ALTER ROLE a PASSWORD 'x' VALID"), "ALTER ROLE a PASSWORD '…' VALID");
        assert_eq!(without_strings("SET a = 'it''s', b = 'y"), "SET a = '…''…', b = '…'");
        assert_eq!(without_strings("SET a = E'it\\'s', b = 'y'"), "SET a = E'…'");
        assert_eq!(without_strings("SELECT $1 + $22, $2"), "SELECT $1 + $22, $2");
        for text in ["PASSWORD $$se'cret$$", "PASSWORD 'x' $$se'cret$$", "PASSWORD $t$it\\'s secret$t$"] {
            let kept = without_strings(text);
            assert!(kept.ends_with("$…"), "{kept}");
            assert!(!kept.contains("cret"), "{kept}");
            assert!(!kept.contains("it"), "{kept}");
        }
    }

    #[test]
    fn statements_beyond_the_list_are_the_rest() {
        let keys: Vec<String> = (0..50).map(|number| format!("s{number:02}")).collect();
        let statements: Vec<_> =
            (0..).zip(&keys).map(|(n, key)| (key.as_str(), "", 1, f64::from(n))).collect();
        let mut totals = StatementTotals::begin(snapshot("e", 0, &[]), 0);
        totals.add(snapshot("e", 0, &statements), 1_000_000_000);
        assert_eq!((totals.candidates().len(), totals.candidates()[0]), (40, "s49"));
        let result = counted(&totals, &["s49"]);
        assert_eq!((result.statements.len(), result.statements[0].id.as_str()), (20, "s48"));
        assert_eq!(result.rest.as_ref().map(|rest| rest.statements), Some(29));
        assert_eq!(result.total().calls, 49);
    }
}
