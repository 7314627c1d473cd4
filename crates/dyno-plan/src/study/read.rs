//! Reads and validates a study's file.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::{Spanned, Value};

use super::matrix::{WrittenVariant, combined, repeat_base};
use super::raw::{RawHead, RawStudy, RawTask, RawVariant};
use super::{
    DataReset, Need, REPEATS_MIN, ReversibleCommands, StudyOrder, StudyPlan, StudyTask, TABLES, Variant,
};
use crate::error::{PlanError, PlanErrorKind, PlanErrors};
use crate::located::LocatedToml;
use crate::read::{PlanFile, PlanSource};
use crate::{keys, similar, units};

/// The largest number of variants in a study.
const VARIANTS_MAX: usize = 200;
/// The largest number of repeats.
const REPEATS_MAX: u32 = 1_000;
/// The default time limit of a command, in seconds.
const TIMEOUT_S: u64 = 600;
/// The metrics that are compared by default.
const METRICS: [&str; 3] = ["ops_per_s", "service_mean_us", "service_p99_us"];

/// How a study is written.
const HINT: &str = "docs/guides/studies.md lists the keys of [study], [params], [[variant]] and [[task]]";

/// Names of parameters that Dyno sets itself.
const RESERVED: [&str; 3] = ["STUDY", "HERE", "PATH"];

/// A study's file with parameters from the command line.
#[derive(Debug, Clone)]
pub struct StudyFile {
    /// The file with the study and its plan.
    pub file: PlanFile,
    /// The name of the study.
    pub name: String,
    /// Parameters that override those of the file.
    pub params: Vec<(String, String)>,
}

impl StudyFile {
    /// Reads the study; `metric_names` are the names of valid metrics.
    ///
    /// # Errors
    /// All errors of its tables, each with its place.
    pub fn study(&self, metric_names: &[&str]) -> Result<StudyPlan, PlanErrors> {
        let toml = LocatedToml::parse(&self.file.name, &self.file.text, HINT)?;
        let raw = toml.read()?;
        let mut reader = StudyReader { of: self, toml: &toml, errors: Vec::new() };
        let study = reader.study(raw, metric_names);
        match reader.errors.is_empty() {
            true => Ok(study),
            false => Err(PlanErrors { errors: reader.errors, more: 0 }),
        }
    }

    /// The plan of the file as a source, with parameters filled in; `folder` is the study's own folder.
    pub fn source(&self, study: &StudyPlan, folder: &str, options: PlanSource) -> PlanSource {
        let text = expanded(&self.file.text, &study.params, folder);
        let file = PlanFile { name: self.file.name.clone(), text };
        PlanSource { file: Some(file), others: &TABLES, ..options }
    }
}

/// Replaces each `${name}` of a parameter in `text` by its value and `${STUDY}` by `folder`; other text stays as it is.
pub fn expanded(text: &str, params: &BTreeMap<String, String>, folder: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let value = behind.find('}').and_then(|end| {
            let name = &behind[2..end];
            let value = if name == "STUDY" { Some(folder) } else { params.get(name).map(String::as_str) };
            Some((value?, end))
        });
        match value {
            Some((value, end)) => {
                out.push_str(value);
                rest = &behind[end + 1..];
            }
            None => {
                out.push_str("${");
                rest = &behind[2..];
            }
        }
    }
    out.push_str(rest);
    out
}

struct StudyReader<'a> {
    of: &'a StudyFile,
    toml: &'a LocatedToml<'a>,
    errors: Vec<PlanError>,
}

impl StudyReader<'_> {
    fn refuse(&mut self, at: usize, problem: impl Into<String>, hint: &str) {
        let error = self.toml.error_at(at, PlanErrorKind::Range, problem, hint);
        self.errors.push(error);
    }

    fn study(&mut self, raw: RawStudy, metric_names: &[&str]) -> StudyPlan {
        let head = raw.study.map(Spanned::into_inner).unwrap_or_default();
        let params = self.params(raw.params);
        let variants = self.variants(raw.variant, &head);
        let base = self.base(&head, &variants);
        let tasks = self.tasks(raw.task);
        let mut study = StudyPlan {
            name: self.of.name.clone(),
            title: head.title.clone().unwrap_or_else(|| self.of.name.clone()),
            params,
            repeats: REPEATS_MIN,
            order: self
                .word(&head.order, StudyOrder::from_name, "random, abba")
                .unwrap_or(StudyOrder::Random),
            seed: head.seed.unwrap_or(1),
            base,
            state: self
                .word(&head.state, DataReset::from_name, "reload, restore, clone")
                .unwrap_or(DataReset::Reload),
            reset: head.reset.clone(),
            setup: ReversibleCommands {
                apply: head.setup.clone(),
                verify: Vec::new(),
                revert: head.cleanup.clone(),
            },
            serve: ReversibleCommands {
                apply: head.serve.clone(),
                verify: head.serve_verify.clone(),
                revert: head.serve_back.clone(),
            },
            restart: head.restart.clone(),
            timeout_s: TIMEOUT_S,
            devices: head.devices.iter().map(|device| device.trim().to_owned()).collect(),
            metrics: METRICS.map(str::to_owned).to_vec(),
            margin_pct: 2.0,
            caveats: head.caveats.clone(),
            variants,
            tasks,
        };
        self.figures(&head, &mut study, metric_names);
        self.rules(&head, &mut study);
        if head.again
            && let Some(of) = study.variants.get(study.base).cloned()
        {
            study.variants.push(repeat_base(&of));
        }
        study
    }

    /// Checks the numbers in `[study]`.
    fn figures(&mut self, head: &RawHead, study: &mut StudyPlan, metric_names: &[&str]) {
        if let Some(repeats) = &head.repeats {
            let (at, value) = (repeats.span().start, *repeats.get_ref());
            match (REPEATS_MIN..=REPEATS_MAX).contains(&value) {
                true => study.repeats = value,
                false => self.refuse(
                    at,
                    format!("repeats = {value}: allowed: {REPEATS_MIN} to {REPEATS_MAX}"),
                    "write repeats = 4 or more",
                ),
            }
        }
        if let Some(timeout) = &head.timeout {
            match timeout.get_ref().parse::<units::TimeSpan>() {
                Ok(span) if span.0 >= Duration::from_secs(1) => study.timeout_s = span.0.as_secs(),
                _ => self.refuse(
                    timeout.span().start,
                    "timeout is not a duration of at least 1s",
                    "write timeout = \"10m\"",
                ),
            }
        }
        if let Some(margin) = &head.margin_pct {
            match (0.0..100.0).contains(margin.get_ref()) {
                true => study.margin_pct = *margin.get_ref(),
                false => self.refuse(
                    margin.span().start,
                    "margin_pct is not from 0 to 100 %",
                    "write margin_pct = 2",
                ),
            }
        }
        if !head.metrics.is_empty() {
            study.metrics = head.metrics.iter().map(|metric| metric.get_ref().clone()).collect();
            for metric in &head.metrics {
                let name = metric.get_ref().as_str();
                if !metric_names.contains(&name) {
                    let near = similar::closest(name, metric_names.iter().copied());
                    let hint = near.map_or_else(String::new, |near| format!("did you mean {near}?"));
                    self.refuse(metric.span().start, format!("unknown metric {name:?}"), &hint);
                }
            }
        }
    }

    /// Checks for settings that exclude each other.
    fn rules(&mut self, head: &RawHead, study: &mut StudyPlan) {
        let at = |word: &Option<Spanned<String>>| word.as_ref().map_or(0, |word| word.span().start);
        match (study.state, study.reset.is_empty()) {
            (DataReset::Reload, false) => {
                self.refuse(
                    at(&head.state),
                    "state = \"reload\" takes no reset commands",
                    "write state = \"restore\" or \"clone\", or omit reset",
                );
            }
            (DataReset::Restore | DataReset::Clone, true) => {
                self.refuse(
                    at(&head.state),
                    "restore and clone need reset commands in the study, and there are none",
                    "write reset = [\"…\"] in [study]",
                );
            }
            _ => {}
        }
        let restarts = study.variants.iter().any(|variant| variant.needs(Need::RestartDatabase));
        if restarts && study.restart.is_empty() && study.serve.apply.is_empty() {
            self.refuse(
                self.toml.place(&["study"]),
                "a variant needs restart-database, but the study has no command to restart the database",
                "write restart = [\"…\"] or serve = [\"…\"] in [study]",
            );
        }
        let loads_nothing = study.state != DataReset::Reload;
        if loads_nothing && study.tasks.iter().any(|task| !task.run) {
            self.refuse(
                at(&head.state),
                "a task with run = false measures the load, but the study loads no data",
                "write state = \"reload\"",
            );
        }
        let back = [(&study.setup, "setup", "cleanup"), (&study.serve, "serve", "serve_back")];
        for (commands, forth, back) in back {
            if !commands.apply.is_empty() && commands.revert.is_empty() {
                self.refuse(
                    self.toml.place(&["study", forth]),
                    format!("[study] has {forth} but no {back}"),
                    "write the commands that undo it, or [\":\"] if none are needed",
                );
            }
        }
    }

    fn params(&mut self, raw: BTreeMap<Spanned<String>, Spanned<Value>>) -> BTreeMap<String, String> {
        let mut params = BTreeMap::new();
        for (name, value) in raw {
            let at = name.span().start;
            let name = name.into_inner();
            if !is_name(&name) || RESERVED.contains(&name.as_str()) || name.starts_with("DYNO_") {
                self.refuse(
                    at,
                    format!("{name:?} is not a valid parameter name"),
                    "letters, digits and _; not STUDY, HERE, PATH or DYNO_…",
                );
                continue;
            }
            let text = self.text(&name, &value);
            params.insert(name, text);
        }
        for (name, value) in &self.of.params {
            match params.get_mut(name) {
                Some(there) => there.clone_from(value),
                None => {
                    let near = similar::closest(name, params.keys().map(String::as_str));
                    let hint = near.map_or_else(
                        || {
                            format!(
                                "its parameters: {}",
                                params.keys().cloned().collect::<Vec<_>>().join(", ")
                            )
                        },
                        |near| format!("did you mean {near}?"),
                    );
                    self.refuse(0, format!("--param {name}: unknown parameter"), &hint);
                }
            }
        }
        let odd: Vec<String> =
            params.iter().filter(|(_, value)| !is_plain(value)).map(|(name, _)| name.clone()).collect();
        for name in odd {
            self.refuse(
                self.toml.place(&["params", &name]),
                format!(
                    "the value of the parameter {name} contains quotes, a backslash or control characters"
                ),
                "write a plain text",
            );
        }
        params
    }

    /// Converts a value to text.
    fn text(&mut self, key: &str, value: &Spanned<Value>) -> String {
        match value.get_ref() {
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
            _ => {
                self.refuse(
                    value.span().start,
                    format!("{key}: neither a text nor a number"),
                    "write one value in quotes",
                );
                String::new()
            }
        }
    }

    fn sets(&mut self, raw: BTreeMap<String, Spanned<Value>>) -> Vec<(String, String)> {
        let mut sets = Vec::new();
        for (key, value) in raw {
            if keys::find(&key).is_none() {
                let near = similar::closest(&key, keys::all().map(|key| key.path));
                let hint = near.map_or_else(
                    || "docs/reference/plan.md lists all keys".to_owned(),
                    |near| format!("did you mean {near}?"),
                );
                self.refuse(value.span().start, format!("unknown plan key {key:?}"), &hint);
            } else if matches!(key.split_once('.'), Some(("hooks" | "sweep", _))) {
                self.refuse(
                    value.span().start,
                    format!("{key} cannot be set by a study"),
                    "a study has its own commands and repeats",
                );
            }
            let text = self.text(&key, &value);
            sets.push((key, text));
        }
        sets
    }

    fn variants(&mut self, raw: Vec<Spanned<RawVariant>>, _: &RawHead) -> Vec<Variant> {
        let written: Vec<WrittenVariant> = raw.into_iter().map(|raw| self.variant(raw)).collect();
        let variants = combined(written);
        for (at, variant) in variants.iter().enumerate() {
            if variants[..at].iter().any(|other| other.name == variant.name) {
                self.refuse(
                    self.toml.place(&["variant"]),
                    format!("two variants have the name {:?}", variant.name),
                    "give each a different name",
                );
            }
        }
        if !(2..=VARIANTS_MAX).contains(&variants.len()) {
            self.refuse(
                self.toml.place(&["variant"]),
                format!("the study has {} variants", variants.len()),
                "write [[variant]] tables, from 2 to 200 with all combinations of axes",
            );
        }
        variants
    }

    fn variant(&mut self, raw: Spanned<RawVariant>) -> WrittenVariant {
        let at = raw.span().start;
        let raw = raw.into_inner();
        let name = self.named(&raw.name);
        let mut needs = Vec::new();
        for word in &raw.needs {
            needs.extend(self.word(&Some(word.clone()), Need::from_name, "root, restart-database, reboot"));
        }
        if !raw.apply.is_empty() && raw.revert.is_empty() {
            self.refuse(
                at,
                format!("the variant {name:?} has apply but no revert"),
                "write the commands that undo it, or [\":\"] if none are needed",
            );
        }
        let settings: Vec<(String, String)> = raw
            .settings
            .into_iter()
            .map(|(key, value)| {
                let text = self.text(&key, &value);
                (key, text)
            })
            .collect();
        if !raw.apply.is_empty() && raw.verify.is_empty() && settings.is_empty() {
            self.refuse(
                at,
                format!("the variant {name:?} has apply but no verify"),
                "write a command that fails if the change is not in effect, or settings = { … }",
            );
        }
        let part = ReversibleCommands { apply: raw.apply, verify: raw.verify, revert: raw.revert };
        let variant = Variant {
            name,
            about: raw.about,
            set: self.sets(raw.set),
            parts: if part == ReversibleCommands::default() { Vec::new() } else { vec![part] },
            needs,
            settings,
            again: false,
        };
        WrittenVariant { axis: raw.axis, variant }
    }

    fn tasks(&mut self, raw: Vec<Spanned<RawTask>>) -> Vec<StudyTask> {
        if raw.is_empty() {
            return vec![StudyTask { name: "run".to_owned(), set: Vec::new(), run: true }];
        }
        let mut tasks: Vec<StudyTask> = Vec::new();
        for task in raw {
            let at = task.span().start;
            let task = task.into_inner();
            let name = self.named(&task.name);
            if tasks.iter().any(|other| other.name == name) {
                self.refuse(at, format!("two tasks have the name {name:?}"), "give each a different name");
            }
            tasks.push(StudyTask { name, set: self.sets(task.set), run: task.run });
        }
        tasks
    }

    fn base(&mut self, head: &RawHead, variants: &[Variant]) -> usize {
        let Some(base) = &head.base else { return 0 };
        let base_index = variants.iter().position(|variant| variant.name == *base.get_ref());
        base_index.unwrap_or_else(|| {
            let near = similar::closest(base.get_ref(), variants.iter().map(|variant| variant.name.as_str()));
            let hint = near.map_or_else(String::new, |near| format!("did you mean {near:?}?"));
            self.refuse(base.span().start, format!("unknown variant {:?}", base.get_ref()), &hint);
            0
        })
    }

    /// Checks a name of a variant or task: `variant:NAME` and lists with commas must accept it.
    fn named(&mut self, name: &Spanned<String>) -> String {
        let text = name.get_ref().trim().to_owned();
        if text.is_empty() || text.contains([',', '\n', '\r']) || text.chars().count() > 60 {
            self.refuse(
                name.span().start,
                format!("{text:?} is not a valid name"),
                "write 1 to 60 characters without a comma",
            );
        }
        text
    }

    fn word<T>(
        &mut self,
        word: &Option<Spanned<String>>,
        of: impl Fn(&str) -> Option<T>,
        allowed: &str,
    ) -> Option<T> {
        let word = word.as_ref()?;
        let value = of(word.get_ref());
        if value.is_none() {
            self.refuse(word.span().start, format!("{:?} is not one of: {allowed}", word.get_ref()), "");
        }
        value
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_plain(value: &str) -> bool {
    !value.chars().any(|c| c.is_control() || matches!(c, '"' | '\'' | '\\'))
}
