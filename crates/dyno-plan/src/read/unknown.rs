//! Errors for unknown keys, with the key that was probably meant.

use super::draft::PlanDraft;
use crate::error::{Origin, PlanErrorKind, shown_key};
use crate::keys::{self, SECTIONS};

/// Records that no key with this name can be an axis, and suggests a similar one.
pub(super) fn refuse_axis(draft: &mut PlanDraft, origin: Origin, name: &str) {
    let key_name = name.rsplit_once('.').map_or(name, |(_, own)| own);
    let hint = match meant(name, key_name) {
        _ if crate::similar::closest(name, [crate::sweep::SESSIONS]).is_some() => {
            "did you mean sessions?".to_owned()
        }
        Some(near) => format!("did you mean {near}?"),
        None => "allowed: until, repeats, order, seed, pause, and axes: sessions, or any key of the plan"
            .to_owned(),
    };
    let key = format!("sweep.{name}");
    draft.refuse_name(PlanErrorKind::Unknown, origin, shown_key(&key), "unknown key", hint);
}

/// Records that there is no key `path`, and suggests a similar one.
pub(super) fn refuse_key(draft: &mut PlanDraft, origin: Origin, path: &str) {
    let (section, name) = path.split_once('.').unwrap_or(("", path));
    let of_section = SECTIONS.iter().find(|known| !section.is_empty() && known.name == section);
    let names: Vec<_> = of_section.iter().flat_map(|section| section.keys).map(keys::PlanKey::name).collect();
    let elsewhere = keys::all().any(|key| key.name() == name);
    let near = crate::similar::closest(name, names.iter().copied()).filter(|_| !elsewhere);
    let hint = if ["password", "passwd", "pwd"].contains(&name.to_ascii_lowercase().as_str()) {
        "a plan cannot contain a password: use target.password_env or target.password_file".to_owned()
    } else if let Some(near) = near {
        format!("did you mean {section}.{near}?")
    } else if let Some(near) = meant(path, name) {
        format!("did you mean {near}?")
    } else if let Some(section) = of_section {
        format!("allowed in [{}]: {}", section.name, names.join(", "))
    } else {
        let sections = SECTIONS.iter().map(|section| section.name).filter(|name| !name.is_empty());
        format!("allowed: SECTION.KEY with a section of {}", sections.collect::<Vec<_>>().join(", "))
    };
    draft.refuse_name(PlanErrorKind::Unknown, origin, shown_key(path), "unknown key", hint);
}

/// The key of any section whose name is similar to `name`; of several, the one with the closest full name.
fn meant(path: &str, name: &str) -> Option<&'static str> {
    let near = crate::similar::closest(name, keys::all().map(keys::PlanKey::name))?;
    let alike = keys::all().filter(|key| key.name() == near).map(|key| key.path);
    alike.min_by_key(|known| strsim::osa_distance(shown_key(path).unwrap_or(""), known))
}
