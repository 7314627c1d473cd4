//! One leg: a variant is applied and shown to be in force; for each task the data is brought to its state, and it is measured.

use std::sync::Arc;

use dyno_engine::Work;
use dyno_plan::Plan;
use dyno_plan::study::{DataReset, Leg, Need, Variant};
use dyno_record::{Identity, PartOf, RepositoryError, RunRecord, Setting, SweepKind};

use super::command::At;
use super::device;
use super::journal::{Open, What};
use super::left_over;
use super::walk::Walk;
use crate::drop::drop_data;
use crate::error::Error;
use crate::event::{Event, StudyEvent};
use crate::load::{Done, load};
use crate::ready::Ready;
use crate::room::Loading;

/// How a leg went on, short of an error.
pub(super) enum Went {
    /// It was measured.
    Measured,
    /// The machine has to be started anew before it can be.
    NeedsReboot,
}

impl Walk<'_> {
    /// Applies, verifies and measures the leg of this place; what it opens is undone by whoever calls.
    pub(super) fn leg(&mut self, at: usize, is_rebooted: bool) -> Result<Went, Error> {
        let Leg { variant, .. } = self.legs[at];
        let of = self.order.study.variants[variant].clone();
        if !is_rebooted {
            device::check(self.order)?;
            self.note(What::Opened(Open::Leg(at)))?;
            for part in &of.parts {
                self.commands("apply", &part.apply, variant)?;
            }
            if of.needs(Need::Reboot) {
                self.note(What::Reboot { leg: at, boot: super::walk::boot() })?;
                return Ok(Went::NeedsReboot);
            }
        }
        let serve = self.order.study.serve.clone();
        self.commands("serve", &serve.apply, variant)?;
        if of.needs(Need::RestartDatabase) {
            let restart = self.order.study.restart.clone();
            self.commands("restart", &restart, variant)?;
        }
        let mut said = self.commands("verify", &serve.verify, variant)?;
        for part in &of.parts {
            said.extend(self.commands("verify", &part.verify, variant)?);
        }
        self.note(What::Verified { leg: at, said })?;
        for task in 0..self.order.study.tasks.len() {
            self.task(at, &of, task)?;
        }
        Ok(Went::Measured)
    }

    /// Runs commands in their order; returns the lines that they said.
    pub(super) fn commands(
        &self,
        when: &'static str,
        commands: &[String],
        variant: usize,
    ) -> Result<Vec<String>, Error> {
        let at = self.at(variant);
        let mut said = Vec::new();
        for command in commands {
            let output = self.runner.run(when, command, at, &self.lead.cancel)?;
            let lines = output.lines().map(|line| line.trim_start_matches(['|', ' ']).to_owned());
            said.extend(lines.filter(|line| !line.is_empty()));
            if !output.is_empty() {
                self.lead.tell(Event::Study(StudyEvent::Said(output)));
            }
        }
        Ok(said)
    }

    pub(super) fn at(&self, variant: usize) -> At<'_> {
        At { variant: &self.order.study.variants[variant].name, plan: &self.order.plans[variant][0] }
    }

    /// Brings the data of a task to its state, and measures it.
    fn task(&mut self, at: usize, of: &Variant, task: usize) -> Result<(), Error> {
        let Leg { variant, .. } = self.legs[at];
        let name = self.order.study.tasks[task].name.clone();
        let plan = self.order.plans[variant][task].clone();
        self.lead.tell(Event::Study(StudyEvent::Resetting(name.clone())));
        let (load_s, rows) = match self.order.study.state {
            DataReset::Reload => {
                let (load_s, rows) = self.reload(&plan)?;
                (Some(load_s), Some(rows))
            }
            DataReset::Restore | DataReset::Clone => {
                let reset = self.order.study.reset.clone();
                self.commands("reset", &reset, variant)?;
                (None, None)
            }
        };
        let record = match self.order.study.tasks[task].run {
            true => Some(self.measure(at, of, task, plan)?),
            false => None,
        };
        let run = record.as_ref().map(|record| record.id.clone());
        self.note(What::Measured { leg: at, task, run, load_s, rows })?;
        self.lead.tell(Event::Study(StudyEvent::Measured(name, load_s, record)));
        Ok(())
    }

    /// Drops the data of `plan` and loads it anew; returns seconds and rows.
    fn reload(&mut self, plan: &Plan) -> Result<(f64, u64), Error> {
        let lead = self.part_lead(self.lead.cancel.clone());
        let (lead, is_ours) = (lead.lead(), self.progress.loaded || self.order.replace);
        let dropped = drop_data(&lead, plan, |_| Ok(is_ours))?;
        if dropped.is_none() {
            return Err(Error::usage(
                "the target holds data of Dyno's that this study did not load",
                "`dyno drop` removes it, and so does --replace, before each measurement",
            ));
        }
        self.note(What::Loading)?;
        let loaded = load(&lead, plan, false)?;
        let of = |done: &Done| match done {
            Done::Data(report) => (report.seconds, report.rows_written),
            Done::SetUp(set_up) => (set_up.seconds, set_up.rows_written),
        };
        let each = loaded.iter().map(|loaded| of(&loaded.done));
        Ok(each.fold((0.0, 0), |(seconds, rows), (more_s, more)| (seconds + more_s, rows + more)))
    }

    fn measure(&self, at: usize, of: &Variant, task: usize, plan: Plan) -> Result<Arc<RunRecord>, Error> {
        let Leg { variant, repeat } = self.legs[at];
        let lead = self.part_lead(self.lead.cancel.clone());
        let lead = lead.lead();
        let mut ready = Ready::new(&lead, plan, Work::Run, Loading::Never, |_| Ok(()))?;
        for (name, wanted) in &of.settings {
            let there = ready.targets.first().identity.settings.get(name);
            if there.is_none_or(|there| !alike(there, wanted)) {
                let there = there.map_or_else(|| "not told".to_owned(), |there| format!("{there:?}"));
                let what =
                    format!("{}: the database's setting {name} is {there}, and not {wanted:?}", of.name);
                return Err(Error::because(what, "the variant is not in force"));
            }
        }
        self.check_left_over(variant, task, &ready.targets.first().identity)?;
        ready.marks = self.order.marks.clone();
        ready.marks.variant = Some(of.name.clone());
        let setting = |key: &str, value: &str| Setting { key: key.to_owned(), value: value.to_owned() };
        let part = PartOf {
            id: self.id.clone(),
            kind: SweepKind::Study,
            point: self.order.point(variant, task),
            repeat,
            side: None,
            settings: vec![setting("variant", &of.name), setting("task", &self.order.study.tasks[task].name)],
        };
        let record = ready.measure(Some(&part))?;
        if record.status == dyno_record::Status::Interrupted {
            return Err(Error::because("the run", "was stopped"));
        }
        Ok(record)
    }
}

impl Walk<'_> {
    /// Whether nothing of another variant is in force in a leg of this one, by its own first leg.
    fn check_left_over(&self, variant: usize, task: usize, identity: &Identity) -> Result<(), Error> {
        let variants = &self.order.study.variants;
        // The base a second time is the base.
        let group = |at: usize| if variants[at].again { self.order.study.base } else { at };
        let (mut first, mut others) = (None, Vec::new());
        for measured in self.progress.measured.iter().filter(|measured| measured.task == task) {
            let Some(run) = &measured.run else { continue };
            let platform = match self.repository.load(run) {
                Err(RepositoryError::NoRecord { .. }) => None,
                loaded => left_over::of_record(&loaded?),
            };
            let (Some(platform), of) = (platform, self.legs[measured.leg].variant) else { continue };
            match (group(of) == group(variant), &first) {
                (true, None) => first = Some(platform),
                (true, Some(_)) => {}
                (false, _) => others.push((variants[of].name.as_str(), platform)),
            }
        }
        let Some(first) = first else { return Ok(()) };
        let now = left_over::platform(identity, &dyno_host::facts(&[]));
        let left = left_over::left_over(&first, &now, &others);
        match left.is_empty() {
            true => Ok(()),
            false => {
                Err(Error::because(left.join("; "), "the revert commands of that variant did not undo it"))
            }
        }
    }
}

/// Whether a setting is the one that is wanted: by its letters, or as a size.
fn alike(there: &str, wanted: &str) -> bool {
    let size = |text: &str| text.parse::<dyno_plan::Bytes>().ok().map(|bytes| bytes.to_string());
    there.eq_ignore_ascii_case(wanted) || (size(there).is_some() && size(there) == size(wanted))
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn settings_are_alike_by_letters_or_by_size() {
        assert!(alike("on", "ON") && alike("128MB", "128MB") && !alike("128MB", "64MB"));
        assert!(alike("1024M", "1G"));
    }
}
