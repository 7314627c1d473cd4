//! Reads the axes of `[sweep]`: keys of other sections with lists of values.

use super::draft::{PlanDraft, refusal};
use super::unknown::refuse_axis;
use crate::error::{Origin, PlanError, PlanErrorKind, shown_key};
use crate::keys::{self, PlanKey, RawValue};
use crate::plan::SweepGridAxis;
use crate::sweep::SESSIONS;

/// The largest number of values on one axis.
const VALUES_MAX: usize = 1_000;

/// Whether the key has one value for the whole sweep.
fn is_fixed(key: &PlanKey) -> bool {
    matches!(key.section(), "" | "sweep" | "hooks")
        || key.path.starts_with("target.password")
        || matches!(key.path, "target.urls" | "target.weights" | "target.data")
}

/// A value of an axis, as written.
pub(super) struct WrittenAxisValue<'a> {
    pub(super) raw: RawValue<'a>,
    pub(super) text: &'a str,
    pub(super) origin: Origin,
}

/// Reads the axis `name`, written at `origin`. An option replaces what a file says.
pub(super) fn read(draft: &mut PlanDraft, name: &str, values: &[WrittenAxisValue<'_>], origin: Origin) {
    let Some(path) = resolve(draft, name, &origin) else { return };
    let range = |problem: String, hint: &str| PlanError {
        kind: PlanErrorKind::Range,
        origin: origin.clone(),
        key: Some(format!("sweep.{path}")),
        value: None,
        problem,
        hint: hint.into(),
    };
    if values.is_empty() || values.len() > VALUES_MAX {
        let problem = format!("an axis with {} values", values.len());
        return draft.push(range(problem, "allowed: a list of 1 to 1,000 values, such as [1, 2, 4]"));
    }
    let mut axis = SweepGridAxis { key: path.to_owned(), values: Vec::with_capacity(values.len()) };
    for value in values {
        let Some(text) = read_value(draft, path, value) else { continue };
        if axis.values.contains(&text) {
            let problem = format!("duplicate value {text}");
            draft.push(PlanError {
                origin: value.origin.clone(),
                ..range(problem, "keep one; `repeats` runs every point more than once")
            });
        } else {
            axis.values.push(text);
        }
    }
    draft.put_axis(axis, origin);
}

/// The key of the axis `name`; records an error if it cannot be an axis.
fn resolve(draft: &mut PlanDraft, name: &str, origin: &Origin) -> Option<&'static str> {
    if name == SESSIONS {
        return Some(SESSIONS);
    }
    let alike: Vec<&PlanKey> = match keys::find(name) {
        Some(key) => vec![key],
        None => keys::all().filter(|key| key.name() == name && !is_fixed(key) && is_short(key)).collect(),
    };
    let mut refuse = |kind, problem: &str, hint: String| {
        draft.refuse_name(kind, origin.clone(), shown_key(&format!("sweep.{name}")), problem, hint);
        None
    };
    match alike.as_slice() {
        [key] if is_fixed(key) => refuse(
            PlanErrorKind::Conflict,
            "this key cannot be an axis",
            "it applies to the whole sweep".into(),
        ),
        [key] => Some(key.path),
        [] => {
            refuse_axis(draft, origin.clone(), name);
            None
        }
        several => {
            let paths: Vec<_> = several.iter().map(|key| format!("\"{}\"", key.path)).collect();
            refuse(
                PlanErrorKind::Conflict,
                "several keys have this name",
                format!("write {}", paths.join(" or ")),
            )
        }
    }
}

/// Whether the short name means this key. `scale` means `data.scale`, as in plans before workloads had a scale.
fn is_short(key: &PlanKey) -> bool {
    key.path != "workload.scale"
}

/// The value as a plan shows it; records an error and returns `None` if it is refused.
fn read_value(draft: &mut PlanDraft, path: &'static str, value: &WrittenAxisValue<'_>) -> Option<String> {
    let key = keys::find(if path == SESSIONS { "run.sessions_per_schema" } else { path })?;
    let mut scratch = draft.plan.clone();
    match key.kind.put(&mut scratch, value.raw, draft.engines) {
        Ok(()) => key.get(&scratch),
        Err(refused) => {
            let error = refusal(key, refused, value.text, value.origin.clone());
            draft.push(PlanError { key: Some(format!("sweep.{path}")), ..error });
            None
        }
    }
}
