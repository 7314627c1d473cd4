//! Executes one run, from the hook before it to its stored record.

use std::sync::Arc;

use dyno_drive::{AckLedger, DriveJob, Leftover, RunListener, TargetContext};
use dyno_engine::data::mix;
use dyno_engine::{Cancel, Clock, MonotonicClock};
use dyno_plan::Plan;
use dyno_record::{InvariantResult, PartOf, RecordKind, Repository, RunRecord, StartedRun, Status};
use dyno_workload::custom::CustomWorkload;

use crate::campaign_context::CampaignContext;
use crate::database_reports::WindowReporters;
use crate::error::Error;
use crate::event::{CampaignEvent, Warning};
use crate::hooks::{self, HookRun, HookedRunWatch};
use crate::interval_store::{self, IntervalStoreListener};
use crate::ready::{PreparedCampaign, require_data};
use crate::room::DataLoadPolicy;
use crate::{bulk, data, expectations, files, hosts, invariants, names, row_cleanup};

/// Workloads to be completed after their run, with the invariants that were read before it.
type AskedWorkloads<'a> = (&'a [Arc<CustomWorkload>], Vec<Vec<InvariantResult>>);

impl PreparedCampaign<'_> {
    /// Executes one run of the plan, and returns its stored record.
    pub(crate) fn measure(&mut self, part_of: Option<&PartOf>) -> Result<Arc<RunRecord>, Error> {
        self.before_run(part_of)?;
        let mut reporters = Vec::new();
        for reached in &self.targets.all {
            reporters.push(reached.named(reached.target.reporter(self.plan.observe.awr))?);
        }
        let reporters = WindowReporters::new(reporters);
        let workloads = self.workloads.clone();
        bulk::empty_tables(self.ctx, &self.targets, &workloads)?;
        let invariants_before = invariants::read_before_run(self.ctx, &self.targets, &workloads)?;
        self.drop_page_cache()?;
        let started_run = self.begin(part_of)?;
        let expected = expectations::learn_expectations(
            self.ctx,
            &self.targets,
            &self.specs,
            &workloads,
            &started_run.plan,
        );
        let hooked =
            HookRun { id: Some(&started_run.id), ..HookRun::of(&self.plan, started_run.part_of.as_ref()) };
        let watch = HookedRunWatch { ctx: self.ctx, hooked: Some(hooked), reporters: Some(&reporters) };
        let driven = self.drive(&started_run, Vec::new(), &watch);
        self.is_checked = false;
        let (mut record, left) = driven?;
        for (facts, expected) in record.workloads_mut().zip(expected) {
            facts.expected = expected;
        }
        let is_asked =
            invariants_before.iter().any(|asked| !asked.is_empty()) || bulk::has_bulk_load(&workloads);
        let measured = (is_asked || !reporters.is_empty()).then(|| record.clone());
        for (facts, asked) in record.workloads_mut().zip(&invariants_before) {
            facts.invariants.clone_from(asked);
        }
        let mut record = self.judge_and_store(record, left)?;
        if let Some(measured) = measured {
            let asked = is_asked.then_some((workloads.as_slice(), invariants_before));
            record = self.complete(measured, asked, reporters)?;
        }
        self.run_totals = (self.run_totals.0 + 1, Some(record.status));
        let record = Arc::new(record);
        self.ctx.emit(CampaignEvent::Stored(Arc::clone(&record)));
        Ok(record)
    }

    /// Drops the kernel's page cache, if the plan asks for it.
    fn drop_page_cache(&self) -> Result<(), Error> {
        if !self.plan.run.drop_page_cache {
            return Ok(());
        }
        dyno_host::page_cache::drop_clean().map_err(|error| Error::Other {
            what: "the page cache cannot be dropped (run.drop_page_cache)".to_owned(),
            source: Some(Box::new(error)),
        })
    }

    /// Queries the invariants again and reads the database's own reports, now that the record is stored; audits
    /// `measured` with the results and stores it.
    fn complete(
        &self,
        mut measured: RunRecord,
        asked: Option<AskedWorkloads<'_>>,
        reporters: WindowReporters,
    ) -> Result<RunRecord, Error> {
        if let Some((workloads, mut invariants_by_workload)) = asked {
            // Done first, because the time until the loaded data is on disk is measured.
            bulk::finish_bulk_load(self.ctx, &self.targets, workloads, &mut measured)?;
            let took =
                invariants::read_after_run(self.ctx, &self.targets, workloads, &mut invariants_by_workload)?;
            for (facts, asked) in measured.workloads_mut().zip(invariants_by_workload) {
                facts.invariants_s = (!asked.is_empty()).then_some(took.as_secs_f64());
                facts.invariants = asked;
            }
        }
        let report = reporters.store(&measured.id, self.repository.path(), self.ctx);
        measured.database_report = report.map(Box::new);
        dyno_analyze::judge(&mut measured);
        self.repository.amend(&measured)?;
        Ok(measured)
    }

    /// Audits and stores the record of a run. Then deletes the rows `left` by its sessions, which may wait
    /// for other sessions.
    pub(crate) fn judge_and_store(
        &self,
        mut record: RunRecord,
        left: Vec<Leftover>,
    ) -> Result<RunRecord, Error> {
        dyno_analyze::judge(&mut record);
        self.store(&record)?;
        if let Some(fleet) = &self.ctx.fleet {
            fleet.stored(&record.id);
        }
        row_cleanup::remove_leftover_rows(left, self.ctx);
        Ok(record)
    }

    /// Runs the `end` hook, after all runs of a command.
    pub(crate) fn after_all(&self) -> Result<(), Error> {
        let (runs, status) = self.run_totals;
        let run =
            HookRun { status: status.map(Status::name), runs: Some(runs), ..HookRun::of(&self.plan, None) };
        // The `end` hook also runs after the user cancelled.
        Ok(hooks::run("end", self.plan.hooks.end.as_deref(), &run, &Cancel::default(), self.ctx)?)
    }

    /// Runs the `before_run` hook, and checks that target and data are unchanged.
    fn before_run(&mut self, part: Option<&PartOf>) -> Result<(), Error> {
        if let Some(command) = self.plan.hooks.before_run.clone() {
            let ephemeral = self.targets.all.iter().all(|one| one.target.capabilities().ephemeral);
            if !ephemeral {
                // The command may restart the server, which releases the lock.
                self.locks.clear();
            }
            let run = HookRun::of(&self.plan, part);
            hooks::run("before_run", Some(&command), &run, &self.ctx.cancel, self.ctx)?;
            if !ephemeral {
                return self.reconnect(DataLoadPolicy::Never);
            }
        }
        if self.is_checked { Ok(()) } else { self.check_again() }
    }

    /// Reads again what the targets are, and checks their data.
    pub(crate) fn check_again(&mut self) -> Result<(), Error> {
        for (reached, spec) in self.targets.all.iter_mut().zip(&self.specs) {
            let (target, host) = (&reached.target, self.plan.observe.host);
            reached.identity = reached.named(data::identify(target, host, &self.ctx.cancel))?;
            reached.data_note = reached.named(require_data(self.ctx, reached, spec))?;
        }
        self.is_checked = true;
        Ok(())
    }

    pub(crate) fn after_run(&self, record: &RunRecord) -> Result<(), Error> {
        let command = self.plan.hooks.after_run.as_deref();
        let run = HookRun::ended(&self.plan, record);
        Ok(hooks::run("after_run", command, &run, &self.ctx.cancel, self.ctx)?)
    }

    /// Gives the run a name and stores its start in the repository, with its random seed.
    pub(crate) fn begin(&self, part_of: Option<&PartOf>) -> Result<StartedRun, Error> {
        let (engines, urls) = (self.targets.engines(), self.targets.urls());
        let started_run = names::with_unique_name(|now, random| {
            let (id, started_at) = (dyno_record::new_run_id(now, random), dyno_record::rfc3339(now));
            let plan = with_seed(&self.plan, run_stamp(&id));
            let mut new_run = StartedRun::by_this_process(id, started_at, &*engines, &*urls, plan);
            new_run.part_of = part_of.cloned();
            self.repository.begin(&new_run).map(|()| new_run)
        })?;
        let (id, targets) = (started_run.id.clone(), self.targets.words());
        self.ctx.emit(CampaignEvent::RunBegun {
            id,
            kind: RecordKind::Run,
            targets,
            is_part: started_run.part_of.is_some(),
        });
        Ok(started_run)
    }

    /// Executes the run. Sessions note acknowledged updates in their target's entry of `books`, if it has
    /// one. The record is neither audited nor stored, and rows that sessions left behind still exist.
    pub(crate) fn drive(
        &self,
        started_run: &StartedRun,
        books: Vec<Option<Arc<AckLedger>>>,
        watch: &dyn RunListener,
    ) -> Result<(RunRecord, Vec<Leftover>), Error> {
        let clock: Arc<dyn Clock> = match &self.ctx.fleet {
            Some(fleet) => fleet.clock(),
            None => Arc::new(MonotonicClock::default()),
        };
        let hosts =
            hosts::connect_hosts(&self.plan, &self.targets.all, &clock, self.ctx).inspect_err(|_| {
                // Nothing was started, so no run is kept. The first error counts.
                let _ = self.repository.delete(&started_run.id);
            })?;
        let target_contexts = self.targets.all.iter().zip(&self.specs).zip(hosts);
        let target_contexts =
            target_contexts.map(|((reached, spec), host)| reached.target_context(&self.plan, spec, host));
        let mut targets: Vec<TargetContext> = target_contexts.collect();
        for (aim, book) in targets.iter_mut().zip(books) {
            aim.ack_ledger = book;
        }
        let job = DriveJob {
            run_stamp: run_stamp(&started_run.id),
            run_id: started_run.id.clone(),
            started_at: started_run.started_at.clone(),
            plan: &started_run.plan,
            targets,
            custom_workloads: self.workloads.clone(),
            clock,
            cancel: self.ctx.cancel.part(self.ctx.steer.flag()),
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            series_points_max: series_points_max(),
        };
        let keeper = interval_store::is_long(&self.plan).then(|| {
            let draft = self.with_labels(started_run, dyno_drive::draft(&job));
            IntervalStoreListener::start(draft, self.repository.path().to_path_buf(), watch, self.ctx)
        });
        let fleet = self.ctx.fleet.as_deref();
        let driven = dyno_drive::run_by(&job, keeper.as_ref().map_or(watch, |keeper| keeper), fleet);
        let is_overview = driven.as_ref().is_ok_and(|(record, _)| record.series.full.is_some());
        let why = match keeper {
            Some(keeper) => keeper.finish(is_overview),
            None => Some("the run was expected to be short".to_owned()),
        };
        self.ctx.emit(CampaignEvent::RunOver);
        let (mut record, left) = match driven {
            Ok((record, left)) => (self.with_labels(started_run, record), left),
            Err(error) => {
                // Nothing was started, so no run is kept.
                self.repository.delete(&started_run.id)?;
                return Err(error.into());
            }
        };
        if is_overview {
            interval_store::note_incomplete_series(&mut record, why.as_ref());
            if let Some(why) = why {
                self.ctx.emit(CampaignEvent::Warning(Warning::SeriesNotWhole(why)));
            }
        }
        Ok((record, left))
    }

    /// Adds to the record what the drive does not know: data notes, campaign, variant and tags.
    fn with_labels(&self, started_run: &StartedRun, mut record: RunRecord) -> RunRecord {
        for (facts, reached) in record.targets.iter_mut().zip(&self.targets.all) {
            facts.data_note.clone_from(&reached.data_note);
        }
        let marks = self.marks.clone();
        RunRecord {
            part_of: started_run.part_of.clone(),
            variant: marks.variant,
            tags: marks.tag,
            options: marks.options,
            ..record
        }
    }

    /// Stores the record, as [`store`] does.
    pub(crate) fn store(&self, record: &RunRecord) -> Result<(), Error> {
        store(&self.repository, self.ctx, record)
    }
}

/// Stores the record; if that fails, writes it to a file so that it is not lost.
pub(crate) fn store(
    repository: &Repository,
    ctx: &CampaignContext<'_>,
    record: &RunRecord,
) -> Result<(), Error> {
    let Err(error) = repository.finish(record) else {
        return Ok(());
    };
    for dir in [std::env::current_dir().unwrap_or_default(), std::env::temp_dir()] {
        let path = dir.join(format!("dyno-{}.json", record.id));
        if files::write_private(&path, record.to_json()?.as_bytes()).is_ok() {
            ctx.emit(CampaignEvent::Warning(Warning::StoredElsewhere(error.to_string(), path)));
            break;
        }
    }
    Err(error.into())
}

/// Maximum number of points in a record's series. Tests lower it, because they cannot run for hours.
pub(crate) fn series_points_max() -> usize {
    let lowered = std::env::var("DYNO_SERIES_POINTS_MAX").ok().and_then(|points| points.parse().ok());
    lowered.unwrap_or(dyno_record::OVERVIEW_POINTS_MAX).min(dyno_record::OVERVIEW_POINTS_MAX)
}

/// A number unique to this run, part of every value that it writes.
pub(crate) fn run_stamp(run_id: &str) -> u64 {
    mix(run_id.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte))))
}

/// The plan with a random seed of this run, unless it names one. A seed of 32 bits is unique enough and short
/// to write down.
fn with_seed(plan: &Plan, run_stamp: u64) -> Plan {
    let mut plan = plan.clone();
    plan.workload.seed.get_or_insert(mix(run_stamp) >> 32);
    plan
}
