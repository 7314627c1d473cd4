//! Two sides by turns, so that drift meets both alike.

use std::path::Path;

use dyno_analyze::conclusion::{self, Ab as AbFigures, AbSide, Conclusion};
use dyno_engine::Work;
use dyno_plan::{Plan, PlanErrors, PlanFile, PlanSource, Sweep, keys, sweep};
use dyno_record::{RunRecord, Setting, SweepKind};
use serde_json::json;

use crate::campaign::{self, Concluded, Course, Frame, Turn};
use crate::compare::{Answer, Judge};
use crate::error::Error;
use crate::event::{Ended, Event, Warning};
use crate::lead::Lead;
use crate::ready::Ready;
use crate::room::Loading;

/// One side.
#[derive(Debug, Clone)]
pub struct Side {
    name: &'static str,
    plan: Plan,
    settings: Vec<Setting>,
}

/// Does `pairs` runs of each side, and holds them against each other as `judge` says; where both have runs that count, the
/// answer comes with what was concluded.
///
/// # Errors
/// The target is not fit for a run, or the repository fails.
pub fn ab(
    lead: &Lead<'_>,
    sides: [Side; 2],
    pairs: u32,
    judge: &Judge,
) -> Result<(Concluded, Option<Answer>), Error> {
    let own = sides.each_ref().map(|side| side.plan.clone());
    if own[0].data != own[1].data {
        lead.tell(Event::Warning(Warning::SidesDiffer));
    }
    let loading = Loading::AsNeeded { own: &own, replace: false };
    let ready = Ready::new(lead, own[0].clone(), Work::Run, loading, |_| Ok(()))?;
    let frame = Frame {
        planned: Some(pairs * 2),
        axes: vec![("side".to_owned(), "side".len())],
        sides: sides.iter().map(|side| (side.name, side.words())).collect(),
        ..Frame::new(SweepKind::Ab, json!({ "a": own[0], "b": own[1], "pairs": pairs }))
    };
    let turns = turns(pairs).collect();
    let mut course = Ab { sides, turns, done: 0, judge, answer: None };
    let ended = campaign::follow(ready, frame, &mut course)?;
    Ok((ended, course.answer))
}

impl Side {
    /// Its plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reads a side: the name of a plan file, or settings over the plan in `file`; `source` has what stands over either.
    ///
    /// # Errors
    /// It is neither, or what comes of it is no plan.
    pub fn read(
        name: &'static str,
        text: &str,
        mut source: PlanSource,
        file: impl FnOnce() -> Result<Option<PlanFile>, PlanErrors>,
    ) -> Result<Self, Error> {
        let setting = |key: &str, value: &str| Setting { key: key.to_owned(), value: value.to_owned() };
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
                    format!("--{name} {pair:?} is no setting"),
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

    fn words(&self) -> String {
        let pairs: Vec<_> = self.settings.iter().map(|s| format!("{} = {}", s.key, s.value)).collect();
        if pairs.is_empty() { "the plan as it is".to_owned() } else { pairs.join(", ") }
    }
}

fn single(plan: Plan) -> Plan {
    Plan { sweep: Sweep::default(), ..plan }
}

/// The key that a short name means, if it means one.
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
        [] => Err(Error::usage(
            format!("--{side}: there is no key {name:?} in a plan"),
            "see docs/reference/plan.md or dyno.toml",
        )),
        several => {
            Err(Error::usage(format!("--{side}: several keys are called {name:?}"), several.join(" or ")))
        }
    }
}

/// `A B B A A B …`: each pair has both sides, and every other pair turns them round.
fn turns(pairs: u32) -> impl Iterator<Item = (usize, u32)> {
    (1..=pairs).flat_map(|pair| if pair % 2 == 1 { [(0, pair), (1, pair)] } else { [(1, pair), (0, pair)] })
}

struct Ab<'a> {
    sides: [Side; 2],
    /// Side and pair of every run.
    turns: Vec<(usize, u32)>,
    done: usize,
    judge: &'a Judge,
    /// What came of it, where both sides have runs that count.
    answer: Option<Answer>,
}

impl Ab<'_> {
    /// Each side's name and runs.
    fn split(&self, records: &[RunRecord]) -> Vec<(String, Vec<RunRecord>)> {
        let of = |record: &RunRecord, side: &Side| {
            record.part_of.as_ref().and_then(|part| part.side.as_deref()) == Some(side.name)
        };
        let one = |side: &Side| {
            let own = records.iter().filter(|record| of(record, side)).cloned().collect();
            (format!("{} ({})", side.name, side.words()), own)
        };
        self.sides.iter().map(one).collect()
    }
}

impl Course for Ab<'_> {
    fn next(&mut self) -> Result<Option<Turn>, Error> {
        let Some(&(side, pair)) = self.turns.get(self.done) else { return Ok(None) };
        let Side { name, plan, settings } = self.sides[side].clone();
        Ok(Some(Turn { plan, point: side as u32 + 1, repeat: pair, side: Some(name), settings }))
    }

    fn left(&self) -> Option<Vec<&Plan>> {
        Some(self.turns[self.done..].iter().map(|(side, _)| &self.sides[*side].plan).collect())
    }

    fn learn(&mut self, _: &Turn, _: &Ended) -> Result<Option<Event>, String> {
        self.done += 1;
        Ok(None)
    }

    fn skips(&self) -> bool {
        false
    }

    fn skip(&mut self, _: &Turn) {}

    fn conclude(&mut self, ended: &Concluded) -> (bool, Option<Conclusion>) {
        let both = self.split(&ended.records);
        let counts = both.iter().all(|(_, runs)| runs.iter().any(|run| run.status.counts()));
        self.answer = counts.then(|| self.judge.answers(&both).pop()).flatten();
        let side = |i: usize| {
            let (name, runs): &(String, Vec<RunRecord>) = &both[i];
            AbSide { name: name.clone(), runs: runs.iter().map(|record| record.id.clone()).collect() }
        };
        let figures = AbFigures {
            a: side(0),
            b: side(1),
            gates: self.answer.as_ref().map(|answer| answer.gates.clone()).unwrap_or_default(),
            comparison: self.answer.as_ref().map(|answer| answer.comparison.clone()),
        };
        let made = ended.records.len();
        let stopped = ended.stopped.as_ref().map(|_| format!("it was stopped with {made} runs made"));
        (ended.stopped.is_none(), Some(conclusion::ab::conclusion(&ended.id, stopped, figures)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns_so_that_a_steady_drift_cancels() {
        let order: String = turns(4).map(|(side, _)| if side == 0 { 'A' } else { 'B' }).collect();
        assert_eq!(order, "ABBAABBA");
        // The sum of positions is the same for both sides after every even number of pairs.
        let sum = |wanted| {
            turns(4).enumerate().filter(|(_, (side, _))| *side == wanted).map(|(i, _)| i).sum::<usize>()
        };
        assert_eq!(sum(0), sum(1));
    }

    #[test]
    fn short_names_mean_one_key_or_none() {
        assert_eq!(full_name("a", "work_unit").unwrap(), "workload.work_unit");
        assert_eq!(full_name("a", "sessions").unwrap(), "sessions");
        assert!(full_name("a", "seed").unwrap_err().to_string().contains("several"));
        assert!(full_name("a", "fly").is_err());
    }
}
