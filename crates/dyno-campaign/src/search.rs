//! `dyno search`: the highest load that keeps limits of latency.

use std::time::Duration;

use dyno_analyze::Limit;
use dyno_analyze::bracket::{self, Bracket, Next, Range, Tally};
use dyno_analyze::conclusion;
use dyno_engine::Work;
use dyno_plan::{Plan, sweep};
use dyno_record::{RunRecord, Status, SweepKind};
use dyno_report::number::{self, count};
use dyno_report::{RunningTable, SweepRow};
use serde_json::json;

use super::campaign::{Campaign, Ended, Part};
use super::ready::Ready;
use super::room::Loading;
use crate::cli::{Common, Over, Search};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

/// Runs of one load that may tell nothing before the search gives up.
const SILENT_MAX: u32 = 2;

pub(super) fn run(common: &Common, args: &Search, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let axis = Axis { over: args.over, schemas: plan.data.schemas };
    let range = axis.range(args)?;
    let own = [axis.at(&plan, range.from)?.0];
    // The far end of the range is a valid plan, too, so that no run is refused in the middle.
    axis.at(&plan, range.max)?;
    let loading = Loading::AsNeeded { own: &own, replace: false };
    let mut ready = Ready::loading(common, own[0].clone(), Work::Run, &loading, talk, |_| Ok(()))?;
    ready.marks = args.marks.clone();
    let limits: Vec<String> = args.limit.iter().map(Limit::to_string).collect();
    let definition =
        json!({ "plan": plan, "limits": limits, "over": axis.name(), "from": range.from, "max": range.max });
    let campaign = Campaign::begin(ready, SweepKind::Search, None, &definition, talk)?;
    Searcher { campaign, axis, range, limits: &args.limit, tally: Tally::new(), talk }.drive(&plan, &loading)
}

/// What rises.
#[derive(Clone, Copy)]
struct Axis {
    over: Over,
    schemas: u32,
}

impl Axis {
    fn name(self) -> &'static str {
        match self.over {
            Over::Sessions => "sessions",
            Over::Rate => "rate",
        }
    }

    fn range(self, args: &Search) -> anyhow::Result<Range> {
        let (from, max, resolution_pct) = match self.over {
            Over::Sessions => (1, 1_024, 0),
            Over::Rate => (100, 1_000_000, 5),
        };
        let from = args.from.unwrap_or(from);
        let max = args.max.unwrap_or(max.max(from));
        if from > max {
            return Err(usage(
                format!("--from {from} lies above --max {max}"),
                "a lower --from, or a higher --max",
            ));
        }
        let resolution_pct = args.resolution.unwrap_or(resolution_pct);
        Ok(Range { from, max, resolution_pct, confirm: args.confirm })
    }

    /// The plan at a load, and the setting that makes it.
    fn at(self, plan: &Plan, load: u64) -> anyhow::Result<(Plan, (String, String))> {
        let (key, value) = match self.over {
            Over::Sessions => ("sessions", (load * u64::from(self.schemas)).to_string()),
            Over::Rate => ("workload.rate", format!("{load}/s")),
        };
        let mut at = Plan { sweep: dyno_plan::Sweep::default(), ..plan.clone() };
        sweep::set(&mut at, key, &value).map_err(|error| usage(error.problem, error.hint))?;
        Ok((at, (key.to_owned(), value)))
    }

    /// `64 sessions`, `5,000 ops/s`.
    fn words(self, load: u64) -> String {
        match self.over {
            Over::Sessions => number::sessions((load * u64::from(self.schemas)) as f64),
            Over::Rate => format!("{} ops/s", count(load)),
        }
    }
}

struct Searcher<'a> {
    campaign: Campaign<'a>,
    axis: Axis,
    range: Range,
    limits: &'a [Limit],
    tally: Tally,
    talk: &'a Talk,
}

impl Searcher<'_> {
    fn drive(mut self, plan: &Plan, loading: &Loading<'_>) -> anyhow::Result<Exit> {
        let style = self.talk.style();
        let table = RunningTable::new([(self.axis.name(), 9)]);
        self.talk.show(&table.heads(&style))?;
        let (mut number, mut silent) = (0, 0);
        let found = loop {
            let load = match bracket::next(self.range, &self.tally) {
                Next::Found(bracket) => break Ok(bracket),
                Next::Run(load) => load,
            };
            if !self.campaign.rest(Duration::ZERO) {
                break Err("stopped".to_owned());
            }
            number += 1;
            let runs = self.tally.get(&load).map_or(0, |(_, runs)| *runs);
            self.talk.say(&format!(
                "run {number}: {} (run {} of this load)",
                self.axis.words(load),
                runs + 1
            ));
            let (at, setting) = self.axis.at(plan, load)?;
            let settings = [setting];
            let part = Part {
                plan: &at,
                point: u32::try_from(load)?,
                repeat: runs + silent + 1,
                side: None,
                settings: &settings,
            };
            let ended = self.campaign.run(&part, loading, &format!("run {number}"), None)?;
            let (record, reason) = match &ended {
                Ended::Stored(record) => (Some(record.as_ref()), None),
                Ended::Failed(reason) => (None, Some(reason.as_str())),
                Ended::Interrupted(record) => (record.as_deref(), Some("stopped")),
            };
            let values = vec![settings[0].1.as_str()];
            let row = SweepRow { number, values, repeat: runs + 1, record, reason };
            self.talk.show(&table.line(&row, &style))?;
            match &ended {
                Ended::Interrupted(_) => break Err("stopped".to_owned()),
                Ended::Stored(record) if self.note(load, record) => silent = 0,
                _ if silent + 1 >= SILENT_MAX => {
                    break Err(format!(
                        "{} gave no result twice, so it cannot be judged",
                        self.axis.words(load)
                    ));
                }
                _ => silent += 1,
            }
        };
        self.end(found)
    }

    /// Counts a run for or against its load; false if it tells nothing.
    fn note(&mut self, load: u64, record: &RunRecord) -> bool {
        let kept = dyno_analyze::keeps(self.limits, record).filter(|_| record.status == Status::Valid);
        let Some(kept) = kept else { return false };
        let (held, runs) = self.tally.entry(load).or_insert((0, 0));
        *held += u32::from(kept);
        *runs += 1;
        let said: Vec<_> = self.limits.iter().map(|limit| limit.words(record)).collect();
        self.talk.say(&format!("  {}: {}", if kept { "kept" } else { "not kept" }, said.join(", ")));
        true
    }

    fn end(self, found: Result<Bracket, String>) -> anyhow::Result<Exit> {
        let limits: Vec<String> = self.limits.iter().map(Limit::to_string).collect();
        let bracket = found.as_ref().ok().copied();
        let figures =
            conclusion::Search::of(limits, self.axis.name(), self.axis.schemas, &self.tally, bracket);
        let stopped = found.as_ref().err().cloned();
        let conclusion = conclusion::search::conclusion(&self.campaign.id, stopped, figures.clone());
        self.campaign.conclude(&conclusion)?;
        let exit = self.campaign.end(found.is_ok())?;
        self.talk.json(&json!({
            "search": self.campaign.id, "limits": figures.limits, "over": figures.over, "found": figures.found,
            "holds": bracket.and_then(|b| b.holds), "breaks": bracket.and_then(|b| b.breaks),
            "loads": figures.loads, "line": conclusion.line,
        }))?;
        let id = &self.campaign.id;
        self.talk.show("\n")?;
        super::words::show_words(&conclusion.line, 0, self.talk)?;
        match found {
            Ok(bracket) => {
                self.talk.say(&format!("stored as {id}; `dyno show {id}` shows all of it"));
                Ok(if bracket.holds.is_none() { Exit::Invalid } else { Exit::Done })
            }
            Err(why) => {
                self.talk.error(
                    &format!("{why}; nothing is found yet"),
                    &format!("its runs are kept: `dyno show {id}`"),
                );
                Ok(if exit == Exit::Interrupted { exit } else { Exit::Failed })
            }
        }
    }
}
