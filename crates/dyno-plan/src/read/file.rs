//! Reads the plan file: TOML with the place of every key and value.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::axes::{self, WrittenAxisValue};
use super::draft::PlanDraft;
use super::source::{FILE_BYTES_MAX, PlanFile};
use super::unknown::refuse_key;
use crate::error::{Origin, PlanError, PlanErrorKind, shown_key};
use crate::keys::{self, RawValue, SECTIONS};
use crate::lines::SourceLines;
use crate::located::{SyntaxSlip, syntax_error};

/// A file's text with the places of its lines.
struct PlanFileText<'a> {
    file: &'a PlanFile,
    lines: SourceLines<'a>,
    /// Lines with a syntax error, whose values are guesses.
    broken: BTreeSet<usize>,
    /// Whether names of keys and sections are reliable: a broken header would put keys into the wrong section.
    names_hold: bool,
}

impl<'a> PlanFileText<'a> {
    fn new(file: &'a PlanFile) -> Self {
        Self {
            file,
            lines: SourceLines::new(&file.name, &file.text),
            broken: BTreeSet::new(),
            names_hold: true,
        }
    }

    /// The line and column of byte `at`.
    fn place(&self, at: usize) -> Origin {
        self.lines.origin(at)
    }

    /// The source text of a value.
    fn written<T>(&self, value: &Spanned<T>) -> &'a str {
        self.file.text.get(value.span()).unwrap_or("")
    }
}

/// Reads `file` into `draft`, except for `foreign_tables`. Returns false for a syntax error, which may be the reason
/// for missing keys.
pub(super) fn read(draft: &mut PlanDraft, file: &PlanFile, foreign_tables: &[&str]) -> bool {
    if file.text.len() > FILE_BYTES_MAX {
        draft.push(PlanError {
            kind: PlanErrorKind::File,
            origin: Origin::File { name: file.name.clone(), line: None, column: None },
            key: None,
            value: None,
            problem: "the file is larger than 1 MiB".into(),
            hint: "a plan is a TOML file of a few kilobytes".into(),
        });
        return false;
    }
    let mut text = PlanFileText::new(file);
    let (table, errors) = DeTable::parse_recoverable(&file.text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        // One error per line: later ones are consequences of the first.
        if text.broken.insert(text.lines.line(at)) {
            draft.push(syntax_error(
                &text.lines,
                error,
                "write [SECTION] and KEY = VALUE lines, as `dyno init` does",
            ));
        }
        text.names_hold &= SyntaxSlip::of(error.message()) != SyntaxSlip::Other;
    }
    for (name, value) in
        table.get_ref().iter().filter(|(name, _)| !foreign_tables.contains(&name.get_ref().as_ref()))
    {
        read_top(draft, &text, name, value);
    }
    errors.is_empty()
}

type Name<'i> = Spanned<std::borrow::Cow<'i, str>>;
type Value<'i> = Spanned<DeValue<'i>>;

/// Reads one top-level name: a section, or the version.
fn read_top(draft: &mut PlanDraft, text: &PlanFileText<'_>, name: &Name<'_>, value: &Value<'_>) {
    let place = text.place(name.span().start);
    let section = SECTIONS.iter().find(|s| !s.name.is_empty() && s.name == name.get_ref().as_ref());
    match (section, value.get_ref()) {
        (Some(section), DeValue::Table(table)) if section.name == "sweep" => {
            read_sweep(draft, text, "", table);
        }
        (Some(section), DeValue::Table(table)) => {
            for (name, value) in table {
                let path = format!("{}.{}", section.name, name.get_ref());
                read_key(draft, text, &path, name, value);
            }
        }
        (Some(section), _) => {
            let hint = format!("write [{0}] on a line of its own, with its keys below", section.name);
            draft.refuse_name(PlanErrorKind::Type, place, Some(section.name), "a section, not a key", hint);
        }
        (None, DeValue::Table(_)) if text.names_hold => {
            let section_names = SECTIONS.iter().map(|section| section.name).filter(|name| !name.is_empty());
            let near = crate::similar::closest(name.get_ref(), section_names.clone());
            let all: Vec<_> = section_names.map(|name| format!("[{name}]")).collect();
            let hint = match near {
                Some(near) => format!("did you mean [{near}]?"),
                None => format!("allowed: {}", all.join(", ")),
            };
            draft.refuse_name(
                PlanErrorKind::Unknown,
                place,
                shown_key(name.get_ref()),
                "unknown section",
                hint,
            );
        }
        (None, DeValue::Table(_)) => {}
        (None, _) => read_key(draft, text, name.get_ref(), name, value),
    }
}

/// Reads `[sweep]`: its own keys, and its axes in the order of the file.
fn read_sweep(draft: &mut PlanDraft, text: &PlanFileText<'_>, section: &str, table: &DeTable<'_>) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in entries {
        let full = format!("{section}{}", name.get_ref());
        match value.get_ref() {
            _ if keys::find(&format!("sweep.{full}")).is_some() => {
                read_key(draft, text, &format!("sweep.{full}"), name, value);
            }
            // To TOML, `run.warmup = [...]` without quotes is a separate table.
            DeValue::Table(inner) if section.is_empty() => {
                read_sweep(draft, text, &format!("{full}."), inner);
            }
            _ => read_axis(draft, text, &full, name, value),
        }
    }
}

fn read_axis(draft: &mut PlanDraft, text: &PlanFileText<'_>, full: &str, name: &Name<'_>, value: &Value<'_>) {
    if text.broken.contains(&text.lines.line(value.span().start)) {
        return;
    }
    let written = |value: &Value<'_>| text.written(value);
    let single;
    let values: Vec<&Value<'_>> = match value.get_ref() {
        DeValue::Array(values) => values.iter().collect(),
        _ => {
            single = [value];
            single.to_vec()
        }
    };
    let values: Vec<WrittenAxisValue<'_>> = values
        .into_iter()
        .map(|value| WrittenAxisValue {
            raw: RawValue::of(value.get_ref()),
            text: written(value),
            origin: text.place(value.span().start),
        })
        .collect();
    axes::read(draft, full, &values, text.place(name.span().start));
}

fn read_key(draft: &mut PlanDraft, text: &PlanFileText<'_>, path: &str, name: &Name<'_>, value: &Value<'_>) {
    let at = value.span().start;
    let Some(key) = keys::find(path) else {
        if text.names_hold {
            refuse_key(draft, text.place(name.span().start), path);
        }
        return;
    };
    if text.broken.contains(&text.lines.line(at)) {
        return;
    }
    draft.accept(key, RawValue::of(value.get_ref()), text.written(value), text.place(at));
}
