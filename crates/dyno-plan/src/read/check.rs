//! Checks a draft as a whole: keys that exclude each other, rules, and every point of a sweep.

use std::path::Path;

use super::draft::PlanDraft;
use super::rules::RULES;
use super::source::PlanFile;
use crate::engine::Engines;
use crate::error::{Origin, PlanError, PlanErrorKind, shown};
use crate::keys::{self, EITHERS, ExclusiveKeys};
use crate::phases::{self, RatePhase, read_rows};
use crate::sweep::{self, PointError};

/// Resolves keys that exclude each other, then checks the rest.
pub(super) fn check(draft: &mut PlanDraft, file: Option<&PlanFile>) {
    for either in &EITHERS {
        resolve_exclusive_keys(draft, either);
    }
    settle_phases(draft);
    if draft.mark("target.url").is_none() && draft.mark("target.urls").is_none() {
        draft.push(missing_url(file, draft.engines));
    }
    for rule in &RULES {
        if draft.refused(rule.paths) {
            continue;
        }
        if let Some((problem, hint)) = (rule.check)(&draft.plan, draft.engines) {
            let (origin, key) = blamed_origin(draft, rule.paths);
            let value = keys::find(key).and_then(|key| key.get(&draft.plan)).map(|text| shown(&text));
            let key = Some(key.to_owned());
            draft.push(PlanError {
                kind: PlanErrorKind::Conflict,
                origin,
                key,
                value,
                problem,
                hint: hint.into(),
            });
        }
    }
    check_points(draft);
}

/// Reads the files of a schedule of phases and sets the window to its length. A schedule from a stronger source replaces
/// rate and length from a weaker one. The opposite case would drop the load of the run; a rule refuses it.
fn settle_phases(draft: &mut PlanDraft) {
    if draft.plan.workload.phases.is_empty() {
        return;
    }
    let origin = draft.mark("workload.phases").map_or(Origin::Nowhere, |mark| mark.origin.clone());
    let rank = |path: &str| draft.mark(path).map_or(0, |mark| mark.origin.rank());
    let [rate, time, ops] =
        ["workload.rate", "run.time", "run.ops_per_session"].map(|path| rank(path) < origin.rank());
    if rate {
        draft.plan.workload.rate = None;
    }
    if ops {
        draft.plan.run.ops_per_session = None;
    }
    let mut phases = std::mem::take(&mut draft.plan.workload.phases);
    let mut whole = true;
    for phase in &mut phases {
        if let RatePhase::Csv { file, rows: rows @ None } = phase {
            match read_rows(Path::new(&file)) {
                Ok(read) => *rows = Some(read),
                Err(errors) => {
                    whole = false;
                    for error in errors.errors {
                        draft.push(PlanError { key: Some("workload.phases".into()), ..error });
                    }
                }
            }
        }
    }
    if whole {
        if time {
            draft.plan.run.time = phases::total(&phases);
        }
        draft.plan.workload.phases = phases;
    }
}

/// Checks that every point of a sweep is a valid plan; the first invalid one is reported at its axis.
fn check_points(draft: &mut PlanDraft) {
    if draft.plan.sweep.axes.is_empty() || draft.has_errors() {
        return;
    }
    if let Err(PointError { keys, problem, hint }) = sweep::points(&draft.plan, draft.engines) {
        let Some((key, origin)) = draft.axis_mark(&keys) else { return };
        let key = Some(key);
        draft.push(PlanError { kind: PlanErrorKind::Conflict, origin, key, value: None, problem, hint });
    }
}

/// Of the keys of a broken rule, the one to report: the key from the strongest source, which overrides the others.
fn blamed_origin(draft: &PlanDraft, paths: &[&'static str]) -> (Origin, &'static str) {
    let mut blamed = (Origin::Nowhere, paths[0]);
    for path in paths {
        if let Some(mark) = draft.mark(path).filter(|mark| mark.origin.rank() > blamed.0.rank()) {
            blamed = (mark.origin.clone(), path);
        }
    }
    blamed
}

/// Keeps the one of two keys that comes from the stronger source; both from the same source are an error.
fn resolve_exclusive_keys(draft: &mut PlanDraft, either: &ExclusiveKeys) {
    let rank = |draft: &PlanDraft, path: &str| draft.mark(path).map_or(0, |mark| mark.origin.rank());
    let [first, second] = either.paths;
    match rank(draft, first).cmp(&rank(draft, second)) {
        std::cmp::Ordering::Greater => (either.clear[1])(&mut draft.plan),
        std::cmp::Ordering::Less => (either.clear[0])(&mut draft.plan),
        std::cmp::Ordering::Equal => {
            let Some(mark) = draft.mark(second).cloned() else { return };
            let key = keys::find(second).expect("both keys are in the list");
            draft.push(PlanError {
                kind: PlanErrorKind::Conflict,
                origin: mark.origin,
                key: Some(second.into()),
                value: key.kind.may_show().then(|| shown(&mark.text)),
                problem: format!("cannot be combined with {first}"),
                hint: "keep one of the two".into(),
            });
        }
    }
}

fn missing_url(file: Option<&PlanFile>, engines: Engines) -> PlanError {
    let example = engines.0.first().map_or("", |engine| engine.template);
    let origin = match file {
        Some(file) => Origin::File { name: file.name.clone(), line: None, column: None },
        None => Origin::Nowhere,
    };
    PlanError {
        kind: PlanErrorKind::Missing,
        origin,
        key: Some("target.url".into()),
        value: None,
        problem: "required key is missing".into(),
        hint: format!("write url = {example:?} under [target], or give --target URL"),
    }
}
