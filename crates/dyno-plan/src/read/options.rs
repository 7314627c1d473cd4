//! The options that override a plan file: `--set KEY=VALUE` and `--target URL`.

use super::axes::{self, WrittenAxisValue};
use super::draft::PlanDraft;
use super::unknown::refuse_key;
use crate::error::{Origin, PlanErrorKind, shown_key};
use crate::keys::{self, PlanKey, RawValue};
use crate::sweep::SESSIONS;

/// Reads the text of one `--set` option.
pub(super) fn set(draft: &mut PlanDraft, text: &str) {
    let Some((path, value)) = text.split_once('=') else {
        let hint = "write --set KEY=VALUE, such as --set data.scale=80M".to_owned();
        let key = shown_key(text.trim());
        return draft.refuse_name(PlanErrorKind::Type, Origin::Set, key, "no value", hint);
    };
    let (path, value) = (path.trim(), unquoted(value.trim()));
    match keys::find(path) {
        Some(key) => draft.accept(key, RawValue::Text(value), value, Origin::Set),
        None => match path.strip_prefix("sweep.") {
            Some(axis) => set_axis(draft, axis, value),
            None => refuse_key(draft, Origin::Set, path),
        },
    }
}

/// Reads `--set sweep.AXIS=VALUE,VALUE`; brackets around the list are optional.
fn set_axis(draft: &mut PlanDraft, axis: &str, values: &str) {
    let list = values.strip_prefix('[').and_then(|values| values.strip_suffix(']')).unwrap_or(values);
    let values: Vec<WrittenAxisValue<'_>> = list
        .split(',')
        .map(|value| unquoted(value.trim()))
        .filter(|value| !value.is_empty())
        .map(|value| WrittenAxisValue { raw: RawValue::Text(value), text: value, origin: Origin::Set })
        .collect();
    axes::read(draft, unquoted(axis), &values, Origin::Set);
}

/// The name of the axis in `--set PATH=…`, without quotes: `data.seed` for `sweep."data.seed"`. `None` if the path is not
/// an axis.
pub(crate) fn axis_name(path: &str) -> Option<&str> {
    let path = path.trim();
    if keys::find(path).is_some() {
        return None;
    }
    path.strip_prefix("sweep.").map(unquoted)
}

/// Every key that `--set PATH=…` could change, alone or as an axis of a sweep. Empty if the reader refuses the path as
/// unknown.
pub fn keys_set_by(path: &str) -> Vec<&'static PlanKey> {
    match axis_name(path) {
        None => keys::find(path.trim()).into_iter().collect(),
        Some(SESSIONS) => keys::find("run.sessions_per_schema").into_iter().collect(),
        Some(name) => keys::all().filter(|key| key.path == name || key.name() == name).collect(),
    }
}

/// Reads the texts of all `--target` options.
pub(super) fn target(draft: &mut PlanDraft, url: &str, further: &[String]) {
    let path = if further.is_empty() { "target.url" } else { "target.urls" };
    let key = keys::find(path).expect("the list of keys has both");
    let mut all = url.to_owned();
    further.iter().for_each(|url| {
        all.push(',');
        all.push_str(url);
    });
    draft.accept(key, RawValue::Text(&all), &all, Origin::Target);
}

/// The text without quotes that the shell left in place, as in `--set 'data.scale="80M"'`.
fn unquoted(text: &str) -> &str {
    let inside = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}
