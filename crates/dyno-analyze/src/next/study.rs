//! Steps after a study: variants that remain undecided, and how to confirm the best.

use super::pairs::quoted;
use super::{FoundStep, NextRule, NextStep, chosen};

const STUDIES: &str = "docs/guides/studies.md";

#[derive(Debug, Clone, Default)]
pub(crate) struct StudyEvidence {
    /// Planned runs of each variant.
    pub(crate) repeats: u32,
    /// Whether the study was stopped before its end.
    pub(crate) is_stopped: bool,
    /// The name of the study.
    pub(crate) study: String,
    /// The best variant, if it is worth doing.
    pub(crate) best: Option<String>,
    /// The one server setting that differs between base and best variant, with both values.
    pub(crate) best_setting: Option<(String, String, String)>,
    /// Settings or facts in which the best variant differs from the base.
    pub(crate) best_differences: usize,
    /// A variant without a measurable difference whose interval is wider than the margin, and that width, %.
    pub(crate) wide: Option<(String, f64)>,
    /// Variants beside whose runs others worked.
    pub(crate) confounded: Vec<String>,
    /// A variant that failed, with the reason.
    pub(crate) failed: Option<(String, String)>,
    /// Variants that are better in one figure and worse in another.
    pub(crate) trades: Vec<String>,
}

type StudyRule = NextRule<fn(&StudyEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[StudyRule] = &[
    NextRule {
        name: "study_resume",
        evidence: "a study was stopped before its end",
        source: STUDIES,
        find: resume,
    },
    NextRule {
        name: "study_confounded",
        evidence: "background activity differs between the runs of a variant and those of the base",
        source: STUDIES,
        find: confounded,
    },
    NextRule {
        name: "study_confirm",
        evidence: "a variant is worth doing, and one server setting is all that differs from the base",
        source: "docs/guides/ab.md",
        find: confirm,
    },
    NextRule {
        name: "study_separate",
        evidence: "a variant is worth doing, and several things differ from the base",
        source: STUDIES,
        find: separate,
    },
    NextRule {
        name: "study_repeats",
        evidence: "a variant has no measurable difference, and its interval is wider than the margin",
        source: STUDIES,
        find: repeats,
    },
    NextRule { name: "study_failed", evidence: "repeats of a variant failed", source: STUDIES, find: failed },
    NextRule {
        name: "study_trade",
        evidence: "a variant is better in one figure and worse in another, and none is worth doing",
        source: STUDIES,
        find: trade,
    },
];

/// The steps after this study.
pub(crate) fn after_study(study: &StudyEvidence) -> Vec<NextStep> {
    chosen(&[RULES.iter().filter_map(|rule| rule.step((rule.find)(study))).collect()])
}

fn resume(study: &StudyEvidence) -> Option<FoundStep> {
    study.is_stopped.then(|| {
        let command = format!("dyno study resume {}", quoted(&study.study));
        ("the study is not complete; restore what it changed, and continue it".to_owned(), Some(command))
    })
}

fn confounded(study: &StudyEvidence) -> Option<FoundStep> {
    (!study.confounded.is_empty()).then(|| {
        let variants = super::suite::names(study.confounded.iter());
        (format!("keep other load off host and server, and repeat the study ({variants})"), None)
    })
}

fn confirm(study: &StudyEvidence) -> Option<FoundStep> {
    let (best, (name, base, value)) = (study.best.as_ref()?, study.best_setting.as_ref()?);
    let sentence =
        format!("{best} is worth doing by `{name}` alone; confirm it with an A/B test of your plan");
    Some((sentence, Some(format!("dyno ab --setting {}", quoted(&format!("{name}={base},{value}"))))))
}

fn separate(study: &StudyEvidence) -> Option<FoundStep> {
    let best = study.best.as_ref().filter(|_| study.best_differences > 1)?;
    let sentence = format!(
        "{best} differs from the base in {} things; add a variant for each to see which one helps",
        study.best_differences
    );
    Some((sentence, None))
}

fn repeats(study: &StudyEvidence) -> Option<FoundStep> {
    let (variant, width_pct) = study.wide.as_ref()?;
    let sentence = format!(
        "{variant} may still differ from the base by {} %; set `repeats = {}` in the study instead of {}",
        crate::number::percent(*width_pct),
        study.repeats.saturating_mul(2),
        study.repeats
    );
    Some((sentence, None))
}

fn failed(study: &StudyEvidence) -> Option<FoundStep> {
    let (variant, why) = study.failed.as_ref()?;
    Some((format!("remove the cause of the failed repeats of {variant} first ({why})"), None))
}

fn trade(study: &StudyEvidence) -> Option<FoundStep> {
    let variant = study.trades.first().filter(|_| study.best.is_none())?;
    Some((format!("{variant} is better and worse; decide by the task that your users wait for"), None))
}
