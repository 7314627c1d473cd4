//! A run, from the hook before it to its stored record.

use std::sync::Arc;

use dyno_drive::prove::Book;
use dyno_drive::{Aim, Job, Leftover, Watch};
use dyno_engine::data::mix;
use dyno_engine::{Cancel, Clock, MonotonicClock};
use dyno_plan::Plan;
use dyno_record::{Invariant, PartOf, Repository, RunRecord, StartedRun, Status};
use dyno_workload::own::Own;

use crate::error::Error;
use crate::event::{Event, Warning};
use crate::hooks::{self, HookRun, Watched};
use crate::keeper::{self, Keeper};
use crate::lead::Lead;
use crate::ready::{Ready, require_data};
use crate::room::Loading;
use crate::{bulk, data, expectations, files, hosts, invariants, names, own_report, tidy};

impl Ready<'_> {
    /// One run of the plan, from the hook before it to the stored record.
    pub(crate) fn measure(&mut self, part_of: Option<&PartOf>) -> Result<Arc<RunRecord>, Error> {
        self.before_run(part_of)?;
        let mut reporters = Vec::new();
        for reached in &self.targets.all {
            reporters.push(reached.named(reached.target.reporter(self.plan.observe.awr))?);
        }
        let owns = self.owns.clone();
        bulk::before(self.lead, &self.targets, &owns)?;
        let asked = invariants::before(self.lead, &self.targets, &owns)?;
        self.drop_page_cache()?;
        let begun = self.begin(part_of)?;
        let expected = expectations::of(self.lead, &self.targets, &self.specs, &owns, &begun.plan);
        let hooked = HookRun { id: Some(&begun.id), ..HookRun::of(&self.plan, begun.part_of.as_ref()) };
        let driven = self.drive(&begun, Vec::new(), &Watched { lead: self.lead, hooked: Some(hooked) });
        self.fresh = false;
        let (mut record, left) = driven?;
        for (facts, expected) in record.workloads_mut().zip(expected) {
            facts.expected = expected;
        }
        let is_asked = asked.iter().any(|asked| !asked.is_empty()) || bulk::loads(&owns);
        let measured = is_asked.then(|| record.clone());
        for (facts, asked) in record.workloads_mut().zip(&asked) {
            facts.invariants.clone_from(asked);
        }
        let mut record = self.keep(record, left)?;
        if let Some(measured) = measured {
            record = self.held(measured, &owns, asked)?;
        }
        self.ended = (self.ended.0 + 1, Some(record.status));
        for (at, reporter) in (1..).zip(reporters) {
            let Some(reporter) = reporter else { continue };
            let name = match self.targets.is_several() {
                true => format!("{}-{at}", record.id),
                false => record.id.clone(),
            };
            own_report::keep(reporter, &name, self.repository.path(), self.lead);
        }
        let record = Arc::new(record);
        self.lead.tell(Event::Stored(Arc::clone(&record)));
        Ok(record)
    }

    /// Lets the kernel forget what it has read for the targets, where the plan asks for that.
    fn drop_page_cache(&self) -> Result<(), Error> {
        if !self.plan.run.drop_page_cache {
            return Ok(());
        }
        dyno_host::page_cache::drop_clean().map_err(|error| Error::Other {
            what: "the page cache cannot be dropped (run.drop_page_cache)".to_owned(),
            source: Some(Box::new(error)),
        })
    }

    /// Asks for the invariants again, now that the record is safe, and judges and stores what was `measured` with the answers.
    fn held(
        &self,
        mut measured: RunRecord,
        owns: &[Arc<Own>],
        mut asked: Vec<Vec<Invariant>>,
    ) -> Result<RunRecord, Error> {
        // Before anything else is asked: how long what was loaded takes to be on the disk is the question.
        bulk::after(self.lead, &self.targets, owns, &mut measured)?;
        let took = invariants::after(self.lead, &self.targets, owns, &mut asked)?;
        for (facts, asked) in measured.workloads_mut().zip(asked) {
            facts.invariants_s = (!asked.is_empty()).then_some(took.as_secs_f64());
            facts.invariants = asked;
        }
        dyno_analyze::judge(&mut measured);
        self.repository.amend(&measured)?;
        Ok(measured)
    }

    /// Judges and stores the record of a run; then removes what its sessions have `left`, which may wait for somebody else.
    pub(crate) fn keep(&self, mut record: RunRecord, left: Vec<Leftover>) -> Result<RunRecord, Error> {
        dyno_analyze::judge(&mut record);
        self.store(&record)?;
        if let Some(fleet) = &self.lead.fleet {
            fleet.stored(&record.id);
        }
        tidy::up(left, self.lead);
        Ok(record)
    }

    /// Runs the hook after all runs of a command.
    pub(crate) fn after_all(&self) -> Result<(), Error> {
        let (runs, status) = self.ended;
        let run =
            HookRun { status: status.map(Status::name), runs: Some(runs), ..HookRun::of(&self.plan, None) };
        // Whoever has stopped the runs wants their end all the same.
        Ok(hooks::run("end", self.plan.hooks.end.as_deref(), &run, &Cancel::default(), self.lead)?)
    }

    /// Runs the hook, and makes sure that target and data are still what they were.
    fn before_run(&mut self, part: Option<&PartOf>) -> Result<(), Error> {
        if let Some(command) = self.plan.hooks.before_run.clone() {
            let ephemeral = self.targets.all.iter().all(|one| one.target.capabilities().ephemeral);
            if !ephemeral {
                // The command may restart the server, and with it goes the lock.
                self.locks.clear();
            }
            let run = HookRun::of(&self.plan, part);
            hooks::run("before_run", Some(&command), &run, &self.lead.cancel, self.lead)?;
            if !ephemeral {
                return self.reach(Loading::Never);
            }
        }
        if !self.fresh {
            for (reached, spec) in self.targets.all.iter_mut().zip(&self.specs) {
                reached.identity = reached.named(data::identify(
                    &reached.target,
                    self.plan.observe.host,
                    &self.lead.cancel,
                ))?;
                reached.data_note = reached.named(require_data(self.lead, reached, spec))?;
            }
        }
        Ok(())
    }

    /// Runs the hook after a run.
    pub(crate) fn after_run(&self, record: &RunRecord) -> Result<(), Error> {
        let command = self.plan.hooks.after_run.as_deref();
        let run = HookRun::ended(&self.plan, record);
        Ok(hooks::run("after_run", command, &run, &self.lead.cancel, self.lead)?)
    }

    /// Names the run and notes it in the repository, with the seed that it draws by.
    pub(crate) fn begin(&self, part_of: Option<&PartOf>) -> Result<StartedRun, Error> {
        let (engines, urls) = (self.targets.engines(), self.targets.urls());
        let begun = names::drawn(|now, random| {
            let (id, started_at) = (dyno_record::new_run_id(now, random), dyno_record::rfc3339(now));
            let plan = settled(&self.plan, run_stamp(&id));
            let mut begun = StartedRun::by_this_process(id, started_at, &*engines, &*urls, plan);
            begun.part_of = part_of.cloned();
            self.repository.begin(&begun).map(|()| begun)
        })?;
        let (id, targets) = (begun.id.clone(), self.targets.words());
        self.lead.tell(Event::RunBegun { id, targets, is_part: begun.part_of.is_some() });
        Ok(begun)
    }

    /// Does the run, with what the sessions of each target are told noted in its book, if it has one; the record is neither judged
    /// nor stored, and what the sessions left in the tables is still there.
    pub(crate) fn drive(
        &self,
        begun: &StartedRun,
        books: Vec<Option<Arc<Book>>>,
        watch: &dyn Watch,
    ) -> Result<(RunRecord, Vec<Leftover>), Error> {
        let clock: Arc<dyn Clock> = match &self.lead.fleet {
            Some(fleet) => fleet.clock(),
            None => Arc::new(MonotonicClock::default()),
        };
        let hosts = hosts::reach(&self.plan, &self.targets.all, &clock, self.lead).inspect_err(|_| {
            // Nothing was started, so there is nothing to keep; what went wrong first is what counts.
            let _ = self.repository.delete(&begun.id);
        })?;
        let aims = self.targets.all.iter().zip(&self.specs).zip(hosts);
        let aims = aims.map(|((reached, spec), host)| reached.aim(&self.plan, spec, host));
        let mut targets: Vec<Aim> = aims.collect();
        for (aim, book) in targets.iter_mut().zip(books) {
            aim.book = book;
        }
        let job = Job {
            run_stamp: run_stamp(&begun.id),
            run_id: begun.id.clone(),
            started_at: begun.started_at.clone(),
            plan: &begun.plan,
            targets,
            owns: self.owns.clone(),
            clock,
            cancel: self.lead.cancel.part(self.lead.steer.flag()),
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            series_points_max: series_points_max(),
        };
        let keeper = keeper::is_long(&self.plan).then(|| {
            let draft = self.marked(begun, dyno_drive::draft(&job));
            Keeper::start(draft, self.repository.path().to_path_buf(), watch, self.lead)
        });
        let fleet = self.lead.fleet.as_deref();
        let driven = dyno_drive::run_by(&job, keeper.as_ref().map_or(watch, |keeper| keeper), fleet);
        let is_overview = driven.as_ref().is_ok_and(|(record, _)| record.series.full.is_some());
        let why = match keeper {
            Some(keeper) => keeper.finish(is_overview),
            None => Some("the run was taken for a short one".to_owned()),
        };
        self.lead.tell(Event::RunOver);
        let (mut record, left) = match driven {
            Ok((record, left)) => (self.marked(begun, record), left),
            Err(error) => {
                // Nothing was started, so there is nothing to keep.
                self.repository.delete(&begun.id)?;
                return Err(error.into());
            }
        };
        if is_overview {
            keeper::note(&mut record, why.as_ref());
            if let Some(why) = why {
                self.lead.tell(Event::Warning(Warning::SeriesNotWhole(why)));
            }
        }
        Ok((record, left))
    }

    /// A record with what the drive does not know.
    fn marked(&self, begun: &StartedRun, mut record: RunRecord) -> RunRecord {
        for (facts, reached) in record.targets.iter_mut().zip(&self.targets.all) {
            facts.data_note.clone_from(&reached.data_note);
        }
        let marks = self.marks.clone();
        RunRecord { part_of: begun.part_of.clone(), variant: marks.variant, tags: marks.tag, ..record }
    }

    /// Stores the record, as [`store`] does.
    pub(crate) fn store(&self, record: &RunRecord) -> Result<(), Error> {
        store(&self.repository, self.lead, record)
    }
}

/// Stores the record; where that fails, the record goes into a file, so that nothing is lost.
pub(crate) fn store(repository: &Repository, lead: &Lead<'_>, record: &RunRecord) -> Result<(), Error> {
    let Err(error) = repository.finish(record) else {
        return Ok(());
    };
    for dir in [std::env::current_dir().unwrap_or_default(), std::env::temp_dir()] {
        let path = dir.join(format!("dyno-{}.json", record.id));
        if files::write_private(&path, record.to_json()?.as_bytes()).is_ok() {
            lead.tell(Event::Warning(Warning::StoredElsewhere(error.to_string(), path)));
            break;
        }
    }
    Err(error.into())
}

/// Points of a record's series at most. Tests of what lies beyond have not hours, and lower it.
pub(crate) fn series_points_max() -> usize {
    let lowered = std::env::var("DYNO_SERIES_POINTS_MAX").ok().and_then(|points| points.parse().ok());
    lowered.unwrap_or(dyno_record::OVERVIEW_POINTS_MAX).min(dyno_record::OVERVIEW_POINTS_MAX)
}

/// A number of this run alone, part of every value that it writes.
pub(crate) fn run_stamp(run_id: &str) -> u64 {
    mix(run_id.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte))))
}

/// The plan with a seed of this run's own, unless it names one. 32 bits are enough to tell runs apart, and short to write
/// down.
fn settled(plan: &Plan, run_stamp: u64) -> Plan {
    let mut plan = plan.clone();
    plan.workload.seed.get_or_insert(mix(run_stamp) >> 32);
    plan
}
