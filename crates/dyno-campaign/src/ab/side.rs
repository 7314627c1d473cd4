//! One side of an A/B test: a plan, or settings over a plan.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use dyno_plan::{
    Plan, PlanErrors, PlanFile, PlanSource, SweepSettings, all_without_effect, keys, similar, sweep,
};
use dyno_record::PointSetting;

use super::server_setting::ServerSettingSides;
use crate::error::Error;
use dyno_analyze::conclusion::SERVER_PREFIX;

/// One side of an A/B test, with its plan.
#[derive(Debug, Clone)]
pub struct AbSidePlan {
    pub(super) name: &'static str,
    pub(super) plan: Plan,
    pub(super) settings: Vec<PointSetting>,
}

impl AbSidePlan {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reads a side: the name of a plan file, or settings that override the plan in `file`; the settings of
    /// `source` override both.
    ///
    /// # Errors
    /// The text is neither, or the resulting plan is invalid.
    pub fn read(
        name: &'static str,
        text: &str,
        mut source: PlanSource,
        file: impl FnOnce() -> Result<Option<PlanFile>, PlanErrors>,
    ) -> Result<Self, Error> {
        let setting = |key: &str, value: &str| PointSetting { key: key.to_owned(), value: value.to_owned() };
        if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
            source.file = Some(PlanFile::open(Path::new(text))?);
            return Ok(Self {
                name,
                plan: single(dyno_plan::read(&source)?),
                settings: vec![setting("plan", text)],
            });
        }
        let (mut sessions, mut settings) = (None, Vec::new());
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                Error::usage(
                    format!("--{name}: {pair:?} is not a setting"),
                    "write KEY=VALUE[,KEY=VALUE…], or the name of a plan file (.toml)",
                )
            })?;
            let (key, value) = (full_name(name, key.trim())?, value.trim());
            match key == sweep::SESSIONS {
                true => sessions = Some(value),
                false => source.sets.push(format!("{key}={value}")),
            }
            settings.push(setting(key, value));
        }
        source.file = file()?;
        let mut plan = single(dyno_plan::read(&source)?);
        if let Some(sessions) = sessions {
            sweep::set(&mut plan, sweep::SESSIONS, sessions, source.engines)
                .map_err(|error| Error::usage(format!("--{name}: {}", error.problem), error.hint))?;
        }
        Ok(Self { name, plan, settings })
    }

    /// Adds the server setting's value on side `side` (0 or 1) to what this side is.
    pub fn add_setting(&mut self, setting: &ServerSettingSides, side: usize) {
        let key = format!("{SERVER_PREFIX}{}", setting.name);
        let value = match setting.values[side].as_str() {
            "" => "as it is",
            value => value,
        };
        self.settings.push(PointSetting { key, value: value.to_owned() });
    }

    /// Refuses sides whose differing keys have no effect in the plan: they could only differ by chance.
    ///
    /// # Errors
    /// None of the keys in which the sides differ has an effect.
    pub fn refuse_without_effect(sides: &[Self; 2]) -> Result<(), Error> {
        let [a, b] = sides;
        let keys = [(a, b), (b, a)].into_iter().flat_map(|(side, other)| {
            let differing = side.settings.iter().filter(|setting| !other.settings.contains(setting));
            differing.map(|setting| setting.key.as_str())
        });
        let keys: Vec<&str> = keys.collect::<BTreeSet<_>>().into_iter().collect();
        match all_without_effect(&[&a.plan, &b.plan], &keys) {
            None => Ok(()),
            Some(why) => Err(Error::usage(
                format!("the sides do the same: {why}"),
                "change the plan so that the key has an effect, or compare other keys",
            )),
        }
    }

    pub(super) fn words(&self) -> String {
        let pairs: Vec<_> = self.settings.iter().map(|s| format!("{} = {}", s.key, s.value)).collect();
        if pairs.is_empty() { "the plan unchanged".to_owned() } else { pairs.join(", ") }
    }
}

fn single(plan: Plan) -> Plan {
    Plan { sweep: SweepSettings::default(), ..plan }
}

/// Returns the full key of a short name; an error if there is no such key or several.
fn full_name(side: &str, name: &str) -> Result<&'static str, Error> {
    if name == sweep::SESSIONS {
        return Ok(sweep::SESSIONS);
    }
    let alike: Vec<&'static str> = match keys::find(name) {
        Some(key) => vec![key.path],
        None => keys::all().filter(|key| key.name() == name).map(|key| key.path).collect(),
    };
    match alike.as_slice() {
        [path] => Ok(path),
        [] => {
            let own_name = name.rsplit_once('.').map_or(name, |(_, own_name)| own_name);
            let hint = match similar::closest(own_name, keys::all().map(keys::PlanKey::name)) {
                Some(near) => format!("did you mean {near}?"),
                None => "see docs/reference/plan.md or dyno.toml".to_owned(),
            };
            Err(Error::usage(format!("--{side} {name}: unknown key"), hint))
        }
        several => {
            Err(Error::usage(format!("--{side}: several plan keys are named {name:?}"), several.join(" or ")))
        }
    }
}

impl fmt::Display for AbSidePlan {
    /// The side with its settings: `b (work_unit = 256)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_key_names_match_one_key_or_fail() {
        assert_eq!(full_name("a", "work_unit").unwrap(), "workload.work_unit");
        assert_eq!(full_name("a", "sessions").unwrap(), "sessions");
        assert!(full_name("a", "seed").unwrap_err().to_string().contains("several"));
        assert!(full_name("a", "fly").is_err());
        let unknown = full_name("b", "updat_pct").unwrap_err().to_string();
        assert!(unknown.contains("--b updat_pct: unknown key"), "{unknown}");
    }
}
