//! Generates the plans of `dyno init`: the most used keys, or every key with its meaning.

use crate::engine::EngineSpec;
use crate::keys::{Fallback, PlanKey, PlanKeyKind, PlanSection, SECTIONS, TemplateVisibility};

/// The longest comment line, in characters.
const WIDTH: usize = 100;

/// A plan file for `engine` with the most used keys, valid without changes.
pub fn short_template(engine: &EngineSpec) -> String {
    let mut out = String::from(
        "# A plan of Dyno: which database, which data, which load, how long.\n\
         # Check it with `dyno check`, load with `dyno load`, measure with `dyno run`.\n\
         # Every other key has its default: `dyno init --full` writes them all with their meaning.\n\n",
    );
    for section in &SECTIONS {
        let mut active = section.keys.iter().filter(|key| key.shown == TemplateVisibility::Active).peekable();
        if active.peek().is_some() && !section.name.is_empty() {
            out.push_str(&format!("\n[{}]\n", section.name));
        }
        for key in active {
            if !section.name.is_empty() {
                comment(&mut out, &meaning(key));
            }
            out.push_str(&format!("{} = {}\n", key.name(), key.kind.toml(value(key, engine))));
        }
    }
    out
}

/// A plan file for `engine` with every key and its meaning, valid without changes.
pub fn template(engine: &EngineSpec) -> String {
    let mut out = String::from(
        "# A plan of Dyno: which database, which data, which load, how long.\n\
         # A line without # is in force; one with # shows the default, or an example where there is none.\n\
         # Check it with `dyno check`, load with `dyno load`, measure with `dyno run`.\n\
         # Any key can be overridden: dyno run --set run.time=5m --target URL\n\n",
    );
    for section in &SECTIONS {
        write_section(&mut out, section, engine);
    }
    out
}

fn write_section(out: &mut String, section: &PlanSection, engine: &EngineSpec) {
    if !section.name.is_empty() {
        out.push_str(&format!("\n[{}]\n", section.name));
        comment(out, section.doc);
    }
    let shown = section.keys.iter().filter(|key| match key.shown {
        TemplateVisibility::CommentedForServers => engine.is_server(),
        TemplateVisibility::Active | TemplateVisibility::Commented => true,
    });
    for key in shown {
        if !section.name.is_empty() {
            out.push('\n');
            comment(out, &meaning(key));
            for (word, means) in words(key) {
                comment(out, &format!("\"{word}\": {means}."));
            }
        }
        let mark = if key.shown == TemplateVisibility::Active { "" } else { "# " };
        out.push_str(&format!("{mark}{} = {}\n", key.name(), key.kind.toml(value(key, engine))));
    }
}

/// The meaning of the key, and the allowed values if the shown value does not make them clear.
fn meaning(key: &PlanKey) -> String {
    let doc = key.doc.trim_end_matches('.');
    let such_as = || format!("{doc} (such as {}).", key.kind.toml(key.example));
    match (&key.kind, key.default) {
        (PlanKeyKind::Size(..) | PlanKeyKind::Rate(..), _) if key.example != "off" => such_as(),
        (PlanKeyKind::BlockSize(..) | PlanKeyKind::Number(..), Fallback::None(words)) => {
            format!("{doc}. Default: {words}.")
        }
        _ if !key.unit.is_empty() => format!("{doc} ({}).", key.limits()),
        _ => format!("{doc}."),
    }
}

/// The words that a key allows, each with its meaning.
fn words(key: &PlanKey) -> &'static [(&'static str, &'static str)] {
    match key.kind {
        PlanKeyKind::Word(words, _) => words,
        _ => &[],
    }
}

/// The value to show: the default, or the example.
fn value(key: &PlanKey, engine: &EngineSpec) -> &'static str {
    match (key.path, key.default) {
        ("target.url", _) => engine.template,
        (_, Fallback::Value(value)) => value,
        (_, Fallback::None(_) | Fallback::Required) => key.example,
    }
}

/// Adds `text` as comment lines.
fn comment(out: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{ENGINES, nothing};
    use crate::keys;
    use crate::read::{PlanFile, PlanSource, read};

    fn reads(text: String) -> crate::Plan {
        let file = PlanFile { name: "dyno.toml".into(), text };
        read(&PlanSource { file: Some(file), ..nothing() }).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn a_template_is_a_valid_plan_of_defaults() {
        for engine in ENGINES.0 {
            for text in [short_template(engine), template(engine)] {
                let plan = reads(text);
                assert_eq!(ENGINES.spec_of(&plan.target.url).map(|engine| engine.name), Some(engine.name));
                let target = Some(plan.target.url.to_string());
                let defaults = read(&PlanSource { target, ..nothing() }).unwrap();
                assert_eq!(plan, defaults, "{}", engine.name);
            }
        }
    }

    #[test]
    fn short_template_has_all_active_keys_on_one_screen() {
        for engine in ENGINES.0 {
            let text = short_template(engine);
            assert!(text.lines().count() <= 32, "{text}");
            for key in keys::all().filter(|key| key.shown == TemplateVisibility::Active) {
                assert!(text.contains(&format!("\n{} = ", key.name())), "{}", key.path);
            }
        }
    }

    #[test]
    fn commented_template_line_is_valid_when_uncommented() {
        for engine in ENGINES.0 {
            let template = template(engine);
            for key in keys::all().filter(|key| matches!(key.shown, TemplateVisibility::Commented)) {
                let commented = format!("\n# {} = ", key.name());
                let (before, section) = template.split_once(&format!("[{}]", key.section())).unwrap();
                assert!(section.contains(&commented), "{}: {}", engine.name, key.path);
                if key.path != "run.ops_per_session" {
                    let section = section.replacen(&commented, &commented.replace("# ", ""), 1);
                    reads(format!("{before}[{}]{section}", key.section()));
                }
            }
        }
    }

    #[test]
    fn plan_template_lines_fit_terminal_width() {
        for engine in ENGINES.0 {
            for text in [short_template(engine), template(engine)] {
                assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
            }
        }
    }
}
