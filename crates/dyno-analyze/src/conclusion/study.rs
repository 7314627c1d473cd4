//! The conclusion of a study: which variants of the platform are worthwhile, which are harmful, and
//! which are undecided.
//!
//! Each variant is compared with the base in every figure of every task. The probabilities are
//! adjusted for the number of figures. So an ineffective variant is not called better because one
//! of many figures is better by chance.

use dyno_record::{RunRecord, Unit};
use serde::{Deserialize, Serialize};

use super::{Conclusion, ConclusionFigures};
use crate::attribution::{is_marked, legend, marked_metrics};
use crate::compare::{
    BackgroundDifference, ComparedValues, ComparisonVerdict, MeasureComparison, background, background_words,
    better, compare_values, durability, is_run_scoped,
};
use crate::differences::{Area, ConfigDifference, differ};
use crate::next::{StudyEvidence, after_study};
use crate::number::{fixed, span_s};
use crate::points::{Better, Measure, figure, notes_of, phrase};

/// The name of a load's duration in seconds among the figures of a study.
pub const LOAD: &str = "load_s";

/// The figures of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyResult {
    /// The study's title, from its plan.
    pub title: String,
    /// Index of the base, with which the other variants are compared.
    pub base: usize,
    /// Planned runs of each variant.
    pub repeats: u32,
    /// Differences up to this many percent are not significant.
    pub margin_pct: f64,
    /// How the data was reset to the same state, in a sentence.
    pub state: String,
    pub variants: Vec<StudyVariant>,
    /// One row for each figure of each task.
    pub rows: Vec<StudyRow>,
    /// The order in which the variants were measured.
    pub order: Vec<StudyVariantRound>,
    /// What qualifies the figures, one sentence each.
    pub caveats: Vec<String>,
    /// The legend of the mark, where any of the figures includes background activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
}

impl StudyResult {
    /// Variants that had turns, none of which was measured.
    pub fn unmeasured(&self) -> Vec<&str> {
        let is_unmeasured = |variant: &&StudyVariant| {
            let mut turns = self.order.iter().filter(|turn| turn.variant == variant.name).peekable();
            turns.peek().is_some() && turns.all(|turn| turn.ended != "measured")
        };
        self.variants.iter().filter(is_unmeasured).map(|variant| variant.name.as_str()).collect()
    }
}

/// One variant of the platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyVariant {
    pub name: String,
    /// What it sets and executes.
    pub what: String,
    /// Whether it is the base measured a second time.
    pub again: bool,
    /// The assessment against the base; absent for the base itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<Worth>,
    /// Why repeats of it failed, and which runs have no result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The output of its verifying commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<String>,
    /// Settings of it or of the base, but not of both, that make commits not durable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_durable: Vec<String>,
    /// Background activity that differs from that of the base's runs: it confounds every verdict on
    /// the variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundDifference>,
    /// What else differs between its runs and those of the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differed: Vec<ConfigDifference>,
}

/// The assessment of a variant against the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worth {
    /// It is better in at least one figure, and worse in none.
    WorthDoing,
    /// It is better in one figure and worse in another.
    Trade,
    /// No figure differs by a measurable amount.
    NotMeasurable,
    /// It is worse in at least one figure, and better in none.
    Harmful,
    /// Others worked more during its runs or during those of the base, so its figures prove
    /// nothing.
    Confounded,
    /// It has no figure in common with the base.
    NoFigures,
}

impl Worth {
    /// The assessment as shown in rankings.
    pub fn words(self) -> &'static str {
        match self {
            Self::WorthDoing => "worth doing",
            Self::Trade => "better here, worse there",
            Self::NotMeasurable => "not measurable",
            Self::Harmful => "harmful",
            Self::Confounded => "confounded",
            Self::NoFigures => "no figures",
        }
    }
}

/// One figure of one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    pub task: String,
    /// The figure: `ops_per_s`, or `load_s`.
    pub measure: String,
    pub unit: Unit,
    /// Each of the base's runs.
    pub base: Vec<f64>,
    /// Each variant compared with the base; `None` for the base itself.
    pub cells: Vec<Option<MeasureComparison>>,
}

/// One turn of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyVariantRound {
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    pub variant: String,
    /// Number of the repeat, counted from 1.
    pub repeat: u32,
    /// The outcome: `measured`, `failed`, or a word for an interrupted repeat.
    pub ended: String,
}

/// What a study has measured, variant by variant.
pub struct StudyMeasurements<'r> {
    /// The study with its variants; the rows are added here.
    pub study: StudyResult,
    /// Names of the study's tasks.
    pub tasks: Vec<String>,
    /// Measures that are taken from runs.
    pub metrics: Vec<String>,
    /// Runs of each task under each variant.
    pub runs: Vec<Vec<Vec<&'r RunRecord>>>,
    /// Durations of each task's loads under each variant, s.
    pub loads_s: Vec<Vec<Vec<f64>>>,
}

/// The conclusion of the study named `of`.
pub fn conclusion(campaign_id: &str, stopped: Option<String>, measured: StudyMeasurements<'_>) -> Conclusion {
    let study = judged(measured);
    let ranking = study.ranking();
    let (line, mut words) = (study.line(&ranking), Vec::new());
    words.extend(ranking.iter().map(|at| study.sentence(*at)));
    words.extend(study.again_words());
    for variant in &study.variants {
        words.extend(variant.failed.iter().map(|why| format!("{}: {why}", variant.name)));
    }
    words.push(study.state.clone());
    words.extend(study.others.iter().chain(&study.caveats).cloned());
    let next = after_study(&study.evidence(campaign_id, stopped.is_some(), &ranking));
    Conclusion::new(campaign_id, stopped, line, words, ConclusionFigures::Study(Box::new(study)))
        .followed_by(next)
}

fn judged(measured: StudyMeasurements<'_>) -> StudyResult {
    let StudyMeasurements { mut study, tasks, metrics, runs, loads_s } = measured;
    let valid: Vec<Vec<Vec<&RunRecord>>> =
        runs.iter().map(|of| of.iter().map(|runs| valid_runs(runs)).collect()).collect();
    let all: Vec<&RunRecord> = valid.iter().flatten().flatten().copied().collect();
    let values = |variant: usize, task: usize, name: &str| -> Vec<f64> {
        if name == LOAD {
            return loads_s[variant][task].clone();
        }
        let figures: Option<Vec<f64>> =
            valid[variant][task].iter().map(|record| figure(record, name).map(|found| found.0)).collect();
        figures.unwrap_or_default()
    };
    let base = study.base;
    for (task, task_name) in tasks.iter().enumerate() {
        for name in metrics.iter().map(String::as_str).chain([LOAD]) {
            if (0..study.variants.len()).any(|variant| !values(variant, task, name).is_empty()) {
                let of_task = || valid.iter().flat_map(|of| &of[task]);
                let unit =
                    of_task().find_map(|record| figure(record, name)).map_or(Unit::Seconds, |found| found.1);
                study.rows.push(StudyRow {
                    task: task_name.clone(),
                    measure: name.to_owned(),
                    unit,
                    base: values(base, task, name),
                    cells: Vec::new(),
                });
            }
        }
    }
    let place = |row: &StudyRow| tasks.iter().position(|task| *task == row.task).unwrap_or_default();
    for variant in 0..study.variants.len() {
        if variant == base {
            study.rows.iter_mut().for_each(|row| row.cells.push(None));
            continue;
        }
        let marked_in = |variant: usize, row: &StudyRow| {
            valid[variant][place(row)].iter().any(|record| is_marked(record, &row.measure))
        };
        let values_of_row = |row: &StudyRow| ComparedValues {
            measure: row.measure.clone(),
            unit: row.unit,
            better: direction(row),
            a: row.base.clone(),
            b: values(variant, place(row), &row.measure),
            marked: (marked_in(base, row), marked_in(variant, row)),
            run_scoped: is_run_scoped(
                &row.measure,
                [base, variant].into_iter().flat_map(|side| &valid[side][place(row)]),
            ),
        };
        let (mut compared, _) =
            compare_values(study.rows.iter().map(values_of_row).collect(), study.margin_pct);
        let points: Vec<(&[&RunRecord], &[&RunRecord])> = (0..tasks.len())
            .map(|task| (valid[base][task].as_slice(), valid[variant][task].as_slice()))
            .collect();
        study.variants[variant].background = background(&points);
        if !study.variants[variant].background.is_empty() {
            compared.iter_mut().for_each(|cell| cell.verdict = cell.verdict.confounded());
        }
        study.variants[variant].worth = Some(worth(&compared));
        for (row, compared) in study.rows.iter_mut().zip(compared) {
            row.cells.push(Some(compared));
        }
        let flat = |variant: usize| valid[variant].iter().flatten().copied().collect::<Vec<_>>();
        study.variants[variant].differed = differ(&flat(base), &flat(variant));
        let (base_name, name) = (study.variants[base].name.clone(), study.variants[variant].name.clone());
        let (not_durable, _) = durability((&base_name, &flat(base)), (&name, &flat(variant)));
        study.variants[variant].not_durable = not_durable;
    }
    for (variant, runs) in study.variants.iter_mut().zip(&runs) {
        variant.failed.extend(runs.iter().flatten().filter(|run| !run.status.counts()).map(|run| {
            let why = run.reasons.first().map_or("", String::as_str);
            format!("run {} is left out: {} {why}", run.id, run.status.name()).trim_end().to_owned()
        }));
    }
    let marked_by_run: Vec<_> = all.iter().map(|record| marked_metrics(record)).collect();
    study.others = legend(&marked_by_run, |name| metrics.iter().any(|metric| metric == name));
    study.caveats.extend(notes_of(all));
    study
}

fn valid_runs<'r>(runs: &[&'r RunRecord]) -> Vec<&'r RunRecord> {
    runs.iter().copied().filter(|run| run.status.counts()).collect()
}

fn direction(row: &StudyRow) -> Better {
    if row.measure == LOAD { Better::Lower } else { better(&row.measure, row.unit) }
}

fn worth(compared: &[MeasureComparison]) -> Worth {
    let is = |verdict: ComparisonVerdict| compared.iter().any(|of| of.verdict == verdict);
    match (is(ComparisonVerdict::Faster), is(ComparisonVerdict::Slower)) {
        (true, false) => Worth::WorthDoing,
        (true, true) => Worth::Trade,
        (false, true) => Worth::Harmful,
        (false, false) if is(ComparisonVerdict::Confounded) => Worth::Confounded,
        (false, false) if compared.iter().any(|of| of.a.is_some() && of.b.is_some()) => Worth::NotMeasurable,
        (false, false) => Worth::NoFigures,
    }
}

impl StudyRow {
    /// What the figure counts: `operations`, `load`.
    pub fn label(&self) -> String {
        if self.measure == LOAD {
            return "load".to_owned();
        }
        Measure::find(&self.measure).map_or_else(|| self.measure.clone(), |measure| measure.label.to_owned())
    }

    /// A value with its unit.
    pub fn phrase(&self, value: f64) -> String {
        if self.measure == LOAD { span_s(value) } else { phrase(&self.measure, value) }
    }

    /// By how many percent a variant is better than the base. Where lower is better, a decrease is
    /// positive.
    pub fn gain_pct(&self, variant: usize) -> Option<f64> {
        let difference = self.cells.get(variant)?.as_ref()?.difference_pct?;
        Some(if direction(self) == Better::Lower { -difference } else { difference })
    }

    /// How many times better a variant is than the base, with the interval; above one is better.
    pub fn times(&self, variant: usize) -> Option<(f64, Option<(f64, f64)>)> {
        let cell = self.cells.get(variant)?.as_ref()?;
        let ratio = |pct: f64| 1.0 + pct / 100.0;
        let (times, range) =
            (ratio(cell.difference_pct?), cell.interval_pct.map(|(low, high)| (ratio(low), ratio(high))));
        let is_lower = direction(self) == Better::Lower;
        let positive = times > 0.0 && range.is_none_or(|(low, _)| low > 0.0);
        positive.then(|| match is_lower {
            true => (1.0 / times, range.map(|(low, high)| (1.0 / high, 1.0 / low))),
            false => (times, range),
        })
    }
}

impl StudyResult {
    /// Variants except the base, the best first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.variants.len()).filter(|at| *at != self.base).collect();
        let gain =
            |at: usize| self.rows.first().and_then(|row| row.gain_pct(at)).unwrap_or(f64::NEG_INFINITY);
        all.sort_by(|a, b| {
            let worth_of = |at: usize| self.variants[at].worth;
            worth_of(*a).cmp(&worth_of(*b)).then_with(|| gain(*b).total_cmp(&gain(*a)))
        });
        all
    }

    /// What the rules of next steps ask.
    fn evidence(&self, study: &str, is_stopped: bool, ranking: &[usize]) -> StudyEvidence {
        let those = |worth: Worth| {
            let variants = ranking.iter().map(|at| &self.variants[*at]);
            variants.filter(move |variant| variant.worth == Some(worth)).filter(|variant| !variant.again)
        };
        let best = those(Worth::WorthDoing).next();
        let setting = best.and_then(|best| match &best.differed[..] {
            [ConfigDifference { area: Area::Setting, name, a, b }] => match (&a[..], &b[..]) {
                ([a], [b]) => Some((name.clone(), a.clone(), b.clone())),
                _ => None,
            },
            _ => None,
        });
        let is_open = |at: &&usize| {
            let variant = &self.variants[**at];
            variant.worth == Some(Worth::NotMeasurable) && !variant.again
        };
        let width = |at: &usize| {
            let intervals = self.rows.iter().filter_map(|row| row.cells.get(*at)?.as_ref()?.interval_pct);
            let most = intervals.map(|(low, high)| low.abs().max(high.abs())).reduce(f64::max)?;
            (most > self.margin_pct && most.is_finite()).then(|| (self.variants[*at].name.clone(), most))
        };
        let names = |worth: Worth| those(worth).map(|variant| variant.name.clone()).collect();
        let failed = self
            .variants
            .iter()
            .find_map(|variant| Some((variant.name.clone(), variant.failed.first()?.clone())));
        StudyEvidence {
            repeats: self.repeats,
            is_stopped,
            study: study.to_owned(),
            best: best.map(|best| best.name.clone()),
            best_setting: setting,
            best_differences: best.map_or(0, |best| best.differed.len()),
            wide: ranking.iter().filter(is_open).find_map(width),
            confounded: names(Worth::Confounded),
            failed,
            trades: names(Worth::Trade),
        }
    }

    fn line(&self, ranking: &[usize]) -> String {
        let base = &self.variants[self.base].name;
        let names_with = |worth: Worth| -> Vec<String> {
            let those =
                ranking.iter().map(|at| &self.variants[*at]).filter(|variant| variant.worth == Some(worth));
            let name = |variant: &&StudyVariant| match variant.not_durable.is_empty() {
                true => variant.name.clone(),
                false => format!("{} (commits not durable on one side)", variant.name),
            };
            let those: Vec<&StudyVariant> = those.filter(|variant| !variant.again).collect();
            those.iter().map(name).collect()
        };
        let all = [
            Worth::WorthDoing,
            Worth::Trade,
            Worth::NotMeasurable,
            Worth::Harmful,
            Worth::Confounded,
            Worth::NoFigures,
        ];
        let parts: Vec<String> = all
            .into_iter()
            .map(|worth| (worth, names_with(worth)))
            .filter(|(_, names)| !names.is_empty())
            .map(|(worth, names)| format!("{}: {}", worth.words(), names.join(" · ")))
            .collect();
        format!("against {base}: {}", parts.join("; "))
    }

    /// The assessment of a variant with its reasons.
    fn sentence(&self, at: usize) -> String {
        let variant = &self.variants[at];
        let cells_with_verdict = |verdict: ComparisonVerdict| -> Vec<String> {
            let rows = self.rows.iter().filter_map(|row| Some((row, row.cells[at].as_ref()?)));
            rows.filter(|(_, cell)| cell.verdict == verdict).map(|(row, cell)| self.cell(row, cell)).collect()
        };
        let (better, worse, same) = (
            cells_with_verdict(ComparisonVerdict::Faster),
            cells_with_verdict(ComparisonVerdict::Slower),
            cells_with_verdict(ComparisonVerdict::Same),
        );
        let mut parts = Vec::new();
        let base = &self.variants[self.base].name;
        parts.extend(background_words(&variant.background, base, &variant.name));
        for (word, all) in [("better", &better), ("worse", &worse)] {
            if !all.is_empty() {
                parts.push(format!("{word} in {}", all.join(", ")));
            }
        }
        if parts.is_empty() {
            let figures = self.rows.iter().filter(|row| {
                row.cells[at].as_ref().is_some_and(|cell| cell.a.is_some() && cell.b.is_some())
            });
            parts.push(undecided_words(same.len(), figures.count()));
        }
        parts.extend(variant.not_durable.iter().map(|caveat| format!("caution ({caveat})")));
        let worth = variant.worth.map_or("", Worth::words);
        format!("{}: {worth}: {}", variant.name, parts.join("; "))
    }

    /// One figure in words: `tpcb operations +12.3 % (+8.1 to +15.0)`.
    fn cell(&self, row: &StudyRow, cell: &MeasureComparison) -> String {
        let signed = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, fixed(value, 1));
        let interval = cell
            .interval_pct
            .map_or_else(String::new, |(low, high)| format!(" ({} to {})", signed(low), signed(high)));
        let difference = cell.difference_pct.map_or_else(String::new, |pct| format!(" {} %", signed(pct)));
        format!("{} {}{difference}{interval}", row.task, row.label())
    }

    /// What the second measurement of the base says about the study.
    fn again_words(&self) -> Vec<String> {
        let again = self.variants.iter().enumerate().filter(|(_, variant)| variant.again);
        again
            .filter_map(|(at, variant)| match variant.worth? {
                Worth::NotMeasurable => Some(format!(
                    "control passed: {}, the base measured again, does not differ from it",
                    variant.name
                )),
                Worth::NoFigures | Worth::Confounded => None,
                _ => Some(format!(
                    "control failed: {}, the base measured again, differs from it ({}), so other differences \
                     may not be real either: use more repeats or a quieter machine",
                    variant.name,
                    self.sentence(at)
                )),
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "study_tests.rs"]
mod tests;

/// Words where no metric is better or worse: how many are equal, and that the repeats do not decide
/// the others.
fn undecided_words(equal: usize, metrics: usize) -> String {
    match equal {
        0 => format!("inconclusive for all {metrics} metrics"),
        _ if equal == metrics => format!("all {metrics} metrics equal"),
        _ => format!("{equal} of {metrics} metrics equal, inconclusive for the others"),
    }
}
