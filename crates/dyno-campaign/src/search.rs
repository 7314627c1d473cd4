//! The highest load that keeps limits of latency.

use dyno_analyze::Limit;
use dyno_analyze::bracket::{self, Bracket, Next, Range, Tally};
use dyno_analyze::conclusion::{self, Conclusion};
use dyno_analyze::number;
use dyno_engine::Work;
use dyno_plan::{Engines, Plan, Sweep, sweep};
use dyno_record::{Setting, Status, SweepKind};
use serde_json::json;

use crate::campaign::{self, Concluded, Course, Frame, Turn};
use crate::error::Error;
use crate::event::{Ended, Event};
use crate::lead::Lead;
use crate::ready::Ready;
use crate::room::Loading;

/// Runs of one load that may tell nothing before the search gives up.
const SILENT_MAX: u32 = 2;

/// Characters of the longest load: `1000000/s`.
const VALUE_WIDTH: usize = 9;

/// What rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Sessions on each schema.
    Sessions,
    /// Operations per second of an open loop.
    Rate,
}

impl Over {
    /// The word in results: `sessions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Rate => "rate",
        }
    }

    /// The range that is searched where nobody says another: from, to, and how close its ends may stay, %.
    pub fn range(self) -> (u64, u64, u32) {
        match self {
            Self::Sessions => (1, 1_024, 0),
            Self::Rate => (100, 1_000_000, 5),
        }
    }
}

/// Searches `range` for the highest load of `plan` that keeps `limits`.
///
/// # Errors
/// An end of the range is no load of a plan, the target is not fit for a run, or the repository fails.
pub fn search(
    lead: &Lead<'_>,
    plan: Plan,
    limits: &[Limit],
    over: Over,
    range: Range,
) -> Result<Concluded, Error> {
    let engines = lead.engines.specs;
    let mut search = Search { engines, plan, limits, over, range, tally: Tally::new(), load: 0, silent: 0 };
    let own = [search.at(range.from)?.0];
    // The far end of the range is a valid plan, too, so that no run is refused in the middle.
    search.at(range.max)?;
    let loading = Loading::AsNeeded { own: &own, replace: false };
    let ready = Ready::new(lead, own[0].clone(), Work::Run, loading, |_| Ok(()))?;
    let Range { from, max, .. } = range;
    let definition = json!({
        "plan": search.plan, "limits": search.limits(), "over": over.name(), "from": from, "max": max,
    });
    let axes = vec![(over.name().to_owned(), VALUE_WIDTH)];
    campaign::follow(ready, Frame { axes, ..Frame::new(SweepKind::Search, definition) }, &mut search)
}

struct Search<'a> {
    engines: Engines,
    plan: Plan,
    limits: &'a [Limit],
    over: Over,
    range: Range,
    tally: Tally,
    /// The load of the run under way, and how many of its runs told nothing.
    load: u64,
    silent: u32,
}

impl Search<'_> {
    /// The plan at a load, and the setting that makes it.
    fn at(&self, load: u64) -> Result<(Plan, Setting), Error> {
        let (key, value) = match self.over {
            Over::Sessions => (sweep::SESSIONS, self.sessions(load).to_string()),
            Over::Rate => ("workload.rate", format!("{load}/s")),
        };
        let mut at = Plan { sweep: Sweep::default(), ..self.plan.clone() };
        sweep::set(&mut at, key, &value, self.engines)?;
        Ok((at, Setting { key: key.to_owned(), value }))
    }

    fn sessions(&self, load: u64) -> u64 {
        load * u64::from(self.plan.data.schemas)
    }

    fn limits(&self) -> Vec<String> {
        self.limits.iter().map(Limit::to_string).collect()
    }

    fn bracket(&self) -> Option<Bracket> {
        match bracket::next(self.range, &self.tally) {
            Next::Found(bracket) => Some(bracket),
            Next::Run(_) => None,
        }
    }
}

impl Course for Search<'_> {
    fn next(&mut self) -> Result<Option<Turn>, Error> {
        let Next::Run(load) = bracket::next(self.range, &self.tally) else { return Ok(None) };
        self.load = load;
        let (plan, setting) = self.at(load)?;
        let repeat = self.tally.get(&load).map_or(0, |(_, runs)| *runs) + self.silent + 1;
        let point = u32::try_from(load).unwrap_or(u32::MAX);
        Ok(Some(Turn { plan, point, repeat, side: None, settings: vec![setting] }))
    }

    fn left(&self) -> Option<Vec<&Plan>> {
        None
    }

    /// Counts a run for or against its load, if it tells anything.
    fn learn(&mut self, _: &Turn, ended: &Ended) -> Result<Option<Event>, String> {
        let valid = ended.record.as_deref().filter(|record| record.status == Status::Valid);
        let judged = valid.and_then(|record| Some((record, dyno_analyze::keeps(self.limits, record)?)));
        let Some((record, kept)) = judged else {
            self.silent += 1;
            if self.silent < SILENT_MAX {
                return Ok(None);
            }
            let load = match self.over {
                Over::Sessions => number::sessions(self.sessions(self.load) as f64),
                Over::Rate => format!("{} ops/s", number::count(self.load)),
            };
            return Err(format!("{load} gave no result twice, so it cannot be judged"));
        };
        self.silent = 0;
        let (held, runs) = self.tally.entry(self.load).or_insert((0, 0));
        *held += u32::from(kept);
        *runs += 1;
        let measured = self.limits.iter().map(|limit| limit.words(record)).collect();
        Ok(Some(Event::Judged(kept, measured)))
    }

    fn skips(&self) -> bool {
        false
    }

    fn skip(&mut self, _: &Turn) {}

    fn conclude(&mut self, ended: &Concluded) -> (bool, Option<Conclusion>) {
        let (schemas, bracket) = (self.plan.data.schemas, self.bracket());
        let figures = conclusion::Search::of(self.limits(), self.over.name(), schemas, &self.tally, bracket);
        let conclusion = conclusion::search::conclusion(&ended.id, ended.stopped.clone(), figures);
        (ended.stopped.is_none(), Some(conclusion))
    }
}
