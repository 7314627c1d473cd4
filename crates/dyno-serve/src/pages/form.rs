//! The form of a plan, generated from the list of plan keys.

use dyno_plan::is_of_method;
use dyno_plan::keys::{self, Fallback, PlanKey, PlanKeyKind, PlanSection};
use maud::{Markup, html};

use crate::allowed;
use crate::order::{FieldError, JobRequest};
use crate::setup::Setup;

/// Sections that the form shows. The axes of a sweep have a separate field, and targets come from the
/// server's list.
fn sections(allow_commands: bool) -> impl Iterator<Item = &'static PlanSection> {
    let shown = move |section: &&PlanSection| match section.name {
        "" | "target" => false,
        "hooks" => allow_commands,
        _ => true,
    };
    keys::SECTIONS.iter().filter(shown)
}

/// Keys that most users set; all others are in a collapsed part.
const USUAL: [&str; 7] = [
    "data.scale",
    "workload.update_pct",
    "workload.rate",
    "run.sessions_per_schema",
    "run.time",
    "run.warmup",
    "workload.work_unit",
];

/// The fields of the keys that most users set.
pub(crate) fn usual(order: &JobRequest, wrong: &[FieldError]) -> Markup {
    let keys = USUAL.iter().filter_map(|path| keys::find(path));
    html! { @for key in keys { (field(key, order, wrong)) } }
}

/// The fields of all other keys, section by section.
pub(crate) fn others(order: &JobRequest, wrong: &[FieldError], setup: &Setup) -> Markup {
    let hosts: Vec<&str> = setup.targets.hosts().map(|(name, _)| name).collect();
    let is_hosts = |key: &PlanKey| allowed::is_listed_host(key.path);
    html! {
        @for section in sections(setup.allow_commands) {
            @let keys: Vec<&PlanKey> = section.keys.iter().filter(|key| is_shown(key)).collect();
            @if !keys.is_empty() {
                details open[keys.iter().any(|key| order.set.contains_key(key.path))] {
                    summary { (section.title) }
                    p class="dim" { (section.doc) }
                    div class="fields" {
                        @for key in keys.iter().filter(|key| !is_hosts(key)) { (field(key, order, wrong)) }
                        @for key in keys.iter().filter(|key| is_hosts(key) && !hosts.is_empty()) {
                            (field(key, order, wrong))
                            p class="dim" { "Names from the server's list: " (hosts.join(", ")) }
                        }
                    }
                }
            }
        }
    }
}

fn is_shown(key: &PlanKey) -> bool {
    !USUAL.contains(&key.path) && !matches!(key.kind, PlanKeyKind::File(_) | PlanKeyKind::Folders(_))
}

/// The field of one key.
fn field(key: &PlanKey, order: &JobRequest, wrong: &[FieldError]) -> Markup {
    let name = format!("set.{}", key.path);
    let value = order.set.get(key.path).map_or("", String::as_str);
    let help = format!("help-{}", key.path.replace('.', "-"));
    let usual = match key.default {
        Fallback::Value(value) => value,
        Fallback::None(words) => words,
        Fallback::Required => "",
    };
    let wrong: Vec<&FieldError> = wrong.iter().filter(|wrong| wrong.field == key.path).collect();
    html! {
        div class={"field" (if is_of_method(key.path) { " of-block" } else { "" }) (if wrong.is_empty() { "" } else { " wrong" })} {
            label for=(name) { (key.path) }
            @match &key.kind {
                PlanKeyKind::Word(words, _) => {
                    select id=(name) name=(name) aria-describedby=(help) {
                        option value="" { (usual) " (default)" }
                        @for (word, about) in *words { option value=(word) selected[*word == value] title=(about) { (word) } }
                    }
                }
                PlanKeyKind::Flag(_) => {
                    select id=(name) name=(name) aria-describedby=(help) {
                        option value="" { (usual) " (default)" }
                        @for word in ["true", "false"] { option value=(word) selected[word == value] { (word) } }
                    }
                }
                _ => {
                    input id=(name) name=(name) value=(value) placeholder=(usual) aria-describedby=(help)
                        aria-invalid=[(!wrong.is_empty()).then_some("true")] autocomplete="off";
                }
            }
            p id=(help) class="dim" { (key.doc) " " (key.limits()) }
            @for wrong in wrong { (problem(wrong)) }
        }
    }
}

/// The message about a problem with a field.
pub(crate) fn problem(wrong: &FieldError) -> Markup {
    html! {
        p class="problem" role="alert" {
            @if !wrong.field.is_empty() { strong { (wrong.field) } ": " }
            (dyno_report::text::clean(&wrong.problem))
            @if !wrong.hint.is_empty() { "; " (dyno_report::text::clean(&wrong.hint)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_workload_keys_are_marked_in_form() {
        let order = JobRequest::default();
        let of_block = |path: &str| {
            let key = keys::find(path).expect("a key");
            field(key, &order, &[]).into_string().contains("class=\"field of-block\"")
        };
        let paths = [
            "data.scale",
            "workload.update_pct",
            "workload.work_unit",
            "workload.rate",
            "run.time",
            "workload.mix",
        ];
        assert_eq!(paths.map(of_block), [true, true, true, false, false, false]);
        // An invalid value is shown even if the chosen workload does not use its key.
        let wrong =
            FieldError { field: "workload.update_pct".into(), problem: "no".into(), hint: String::new() };
        let key = keys::find("workload.update_pct").expect("a key");
        let shown = field(key, &order, &[wrong]).into_string();
        assert!(shown.contains("class=\"field of-block wrong\""), "{shown}");
    }
}
