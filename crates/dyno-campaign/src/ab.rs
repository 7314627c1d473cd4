//! `dyno ab`: two sides by turns, so that drift meets both alike.

use std::path::Path;
use std::time::Duration;

use dyno_analyze::conclusion::{self, Ab as AbFigures, AbSide};
use dyno_engine::Work;
use dyno_plan::{Plan, PlanFile, PlanSource, keys, sweep};
use dyno_record::{RunRecord, SweepKind};
use dyno_report::{RunningTable, SweepRow};
use serde_json::json;

use super::campaign::{Campaign, Ended, Part};
use super::compare::Judge;
use super::ready::Ready;
use super::room::Loading;
use crate::cli::{Ab, Common, DEFAULT_PLAN};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Ab, talk: &Talk) -> anyhow::Result<Exit> {
    // A gate that cannot be read is found before the runs, not after them.
    let judge = Judge::new(&args.rules)?;
    let sides = [Side::new(common, "a", &args.a)?, Side::new(common, "b", &args.b)?];
    let own = [sides[0].plan.clone(), sides[1].plan.clone()];
    let loading = Loading::AsNeeded { own: &own, replace: false };
    if own[0].data != own[1].data {
        talk.say("warning: the sides have different data, which is loaded at every turn where both lie in one target");
    }
    let mut ready = Ready::loading(common, own[0].clone(), Work::Run, &loading, talk, |_| Ok(()))?;
    ready.marks = args.marks.clone();
    let definition = json!({ "a": own[0], "b": own[1], "pairs": args.pairs });
    let campaign = Campaign::begin(ready, SweepKind::Ab, Some(args.pairs * 2), &definition, talk)?;
    let (campaign, done) = drive(campaign, &sides, args.pairs, &loading, talk)?;
    conclude(&campaign, done, &sides, &judge, talk)
}

/// One side.
struct Side {
    name: &'static str,
    plan: Plan,
    settings: Vec<(String, String)>,
}

impl Side {
    /// Reads a side: a plan file, or settings over the plan.
    fn new(common: &Common, name: &'static str, text: &str) -> anyhow::Result<Self> {
        if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
            let (target, further_targets) = context::targets(common);
            let file = Some(PlanFile::open(Path::new(text))?);
            let source = PlanSource { file, sets: common.set.clone(), target, further_targets };
            let settings = vec![("plan".to_owned(), text.to_owned())];
            return Ok(Self { name, plan: single(dyno_plan::read(&source)?), settings });
        }
        let mut common = common.clone();
        let mut sessions = None;
        let mut settings = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                usage(
                    format!("--{name} {pair:?} is no setting"),
                    "write KEY=VALUE[,KEY=VALUE…], or the name of a plan file (.toml)",
                )
            })?;
            let key = full_name(name, key.trim())?;
            if key == sweep::SESSIONS {
                sessions = Some(value.trim().to_owned());
            } else {
                common.set.push(format!("{key}={value}"));
            }
            settings.push((key.to_owned(), value.trim().to_owned()));
        }
        let mut plan = single(context::plan(&common)?);
        if let Some(sessions) = sessions {
            sweep::set(&mut plan, sweep::SESSIONS, &sessions)
                .map_err(|error| usage(format!("--{name}: {}", error.problem), error.hint))?;
        }
        Ok(Self { name, plan, settings })
    }

    fn words(&self) -> String {
        let pairs: Vec<_> = self.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if pairs.is_empty() { "the plan as it is".to_owned() } else { pairs.join(", ") }
    }
}

fn single(plan: Plan) -> Plan {
    Plan { sweep: dyno_plan::Sweep::default(), ..plan }
}

/// The key that a short name means, if it means one.
fn full_name(side: &str, name: &str) -> anyhow::Result<&'static str> {
    if name == sweep::SESSIONS {
        return Ok(sweep::SESSIONS);
    }
    let alike: Vec<&'static str> = match keys::find(name) {
        Some(key) => vec![key.path],
        None => keys::all().filter(|key| key.name() == name).map(|key| key.path).collect(),
    };
    match alike.as_slice() {
        [path] => Ok(path),
        [] => Err(usage(
            format!("--{side}: there is no key {name:?} in a plan"),
            format!("see docs/plan.md or {DEFAULT_PLAN}"),
        )),
        several => Err(usage(format!("--{side}: several keys are called {name:?}"), several.join(" or "))),
    }
}

/// `A B B A A B …`: each pair has both sides, and every other pair turns them round.
fn turns(pairs: u32) -> impl Iterator<Item = (usize, u32)> {
    (1..=pairs).flat_map(|pair| if pair % 2 == 1 { [(0, pair), (1, pair)] } else { [(1, pair), (0, pair)] })
}

/// Does the runs; says whether all were done.
fn drive<'a>(
    mut campaign: Campaign<'a>,
    sides: &[Side; 2],
    pairs: u32,
    loading: &Loading<'_>,
    talk: &Talk,
) -> anyhow::Result<(Campaign<'a>, bool)> {
    for side in sides {
        talk.say(&format!("side {}: {}", side.name, side.words()));
    }
    let style = talk.style();
    let table = RunningTable::new([("side", 4)]);
    talk.show(&table.heads(&style))?;
    let all: Vec<(usize, u32)> = turns(pairs).collect();
    let mut stopped = false;
    for (i, &(which, pair)) in all.iter().enumerate() {
        if stopped || !campaign.rest(Duration::ZERO) || campaign.is_hopeless() {
            stopped = true;
            break;
        }
        let side = &sides[which];
        let rest_s =
            campaign.seconds(all[i + 1..].iter().map(|(which, _)| &sides[*which].plan), Duration::ZERO);
        talk.say(&format!("run {} of {}: side {}, pair {pair}", i + 1, all.len(), side.name));
        let part = Part {
            plan: &side.plan,
            point: which as u32 + 1,
            repeat: pair,
            side: Some(side.name),
            settings: &side.settings,
        };
        let ended = campaign.run(&part, loading, &format!("{}/{}", i + 1, all.len()), rest_s)?;
        let (record, reason) = match &ended {
            Ended::Stored(record) => (Some(record.as_ref()), None),
            Ended::Failed(reason) => (None, Some(reason.as_str())),
            Ended::Interrupted(record) => (record.as_deref(), Some("stopped")),
        };
        let row = SweepRow { number: i as u32 + 1, values: vec![side.name], repeat: pair, record, reason };
        talk.show(&table.line(&row, &style))?;
        stopped = matches!(ended, Ended::Interrupted(_));
    }
    Ok((campaign, !stopped))
}

/// What both sides came to, compared.
fn conclude(
    campaign: &Campaign<'_>,
    done: bool,
    sides: &[Side; 2],
    judge: &Judge,
    talk: &Talk,
) -> anyhow::Result<Exit> {
    let mut records = campaign.records()?;
    let made = records.len();
    let of = |record: &RunRecord| record.part_of.as_ref().and_then(|part| part.side.clone());
    let second: Vec<RunRecord> =
        records.extract_if(.., |record| of(record).as_deref() == Some("b")).collect();
    let name = |side: &Side| format!("{} ({})", side.name, side.words());
    let both = [(name(&sides[0]), records), (name(&sides[1]), second)];
    let answers = match both.iter().all(|(_, runs)| runs.iter().any(|run| run.status.counts())) {
        true => judge.answers(&both),
        false => Vec::new(),
    };
    let side = |i: usize| AbSide {
        name: both[i].0.clone(),
        runs: both[i].1.iter().map(|record| record.id.clone()).collect(),
    };
    let figures = AbFigures {
        a: side(0),
        b: side(1),
        comparison: answers.first().map(|answer| answer.comparison.clone()),
        gates: answers.first().map(|answer| answer.gates.clone()).unwrap_or_default(),
    };
    let stopped = (!done).then(|| format!("it was stopped with {made} runs made"));
    let conclusion = conclusion::ab::conclusion(&campaign.id, stopped, figures);
    campaign.conclude(&conclusion)?;
    let exit = campaign.end(done)?;
    let mut gates = Exit::Done;
    if !answers.is_empty() {
        talk.show("\n")?;
        gates = judge.show(&answers, talk)?;
        talk.show("\n")?;
    }
    super::words::show_words(&conclusion.line, 0, talk)?;
    let ids = |i: usize| both[i].1.iter().map(|record| record.id.as_str()).collect::<Vec<_>>();
    talk.json(&json!({
        "ab": campaign.id, "done": done, "a": ids(0), "b": ids(1), "comparison": answers.first(),
        "line": conclusion.line, "findings": conclusion.words,
    }))?;
    talk.say(&format!("stored as {0}; `dyno show {0}` shows all of it", campaign.id));
    Ok(if exit == Exit::Done { gates } else { exit })
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
