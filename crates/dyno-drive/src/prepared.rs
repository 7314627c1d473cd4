//! What sessions are given before they start: the statements that they prepare, and what makes their requests of them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use dyno_engine::{Blocks, Bulk, Extra, SessionSetup, Statement, Target};
use dyno_plan::{Drive, Plan, Protocol};
use dyno_workload::blocks::{self, Operator};
use dyno_workload::own;
use dyno_workload::{Actor, Draw};

use crate::job::{Aim, Job};

/// What the sessions of a run prepare.
#[derive(Default)]
pub(crate) struct Prepared {
    /// Of the classic method, by target and schema.
    blocks: BTreeMap<(usize, u32), blocks::Prepared>,
    /// Of workloads of the user's own, by workload and target.
    own: Vec<Vec<Arc<[Statement]>>>,
    /// The first class of each of them.
    first_classes: Vec<u8>,
}

impl Prepared {
    /// For the sessions of `job`, when session `n` goes to the target at `target_of[n]`.
    ///
    /// # Errors
    /// The data cannot be on a target, in words.
    pub(crate) fn of(job: &Job<'_>, target_of: &[usize]) -> Result<Self, String> {
        let mut all = Self::default();
        for own in &job.owns {
            let of = |aim: &Aim| own.statements(aim.target.engine(), aim.target.dialect());
            let statements = job.targets.iter().map(of).collect::<Result<_, _>>();
            all.own.push(statements.map_err(|fault| fault.to_string())?);
        }
        if job.is_own() {
            let classes = job.classes();
            let first = |place| classes.of_workload(place).next().and_then(|class| class.place());
            all.first_classes = (0..job.owns.len()).map(|place| first(place).unwrap_or(0) as u8).collect();
            return Ok(all);
        }
        for (number, &at) in (0..).zip(target_of) {
            let aim = &job.targets[at];
            let blocks = method(job, aim, number);
            if let Entry::Vacant(entry) = all.blocks.entry((at, blocks.schema)) {
                let workload = &job.plan.workload;
                let prepared =
                    blocks::Prepared::new(aim.target.as_ref(), &blocks, workload.drive, workload.commit);
                entry.insert(prepared.map_err(|error| format!("{}{error}", job.label(at)))?);
            }
        }
        Ok(all)
    }

    /// Session `number`, which goes to the target at `at`.
    pub(crate) fn session(&self, job: &Job<'_>, at: usize, number: u32) -> (SessionSetup, Actor) {
        match job.is_own() {
            true => self.own_session(job, at, number),
            false => self.method_session(job, at, number),
        }
    }

    fn own_session(&self, job: &Job<'_>, at: usize, number: u32) -> (SessionSetup, Actor) {
        let (workload, engine) = (&job.plan.workload, job.targets[at].target.engine());
        let (side, _) = job.plan.side_of(number);
        let actor = own::Actor::new(&job.owns[side], engine, workload.seed(), number);
        let actor = actor.expect("its statements for this engine were made");
        let target = job.targets[at].target.as_ref();
        let actor = actor.pipelining(pipelines(target, workload.protocol));
        let actor = Actor::Own(actor.from_class(self.first_classes[side]));
        let setup = SessionSetup {
            number,
            statements: Arc::clone(&self.own[side][at]),
            rehearsal: None,
            commit: workload.commit,
            protocol: workload.protocol,
            connect: workload.connect,
            blocks: None,
            bulk: job.owns[side].bulk().map(|bulk| Arc::clone(bulk) as Arc<dyn Bulk>),
            read_only: !job.owns[side].writes(),
            slices: false,
            clock: Arc::clone(&job.clock),
        };
        (setup, actor)
    }

    fn method_session(&self, job: &Job<'_>, at: usize, number: u32) -> (SessionSetup, Actor) {
        let (plan, aim) = (job.plan, &job.targets[at]);
        let workload = match aim.reads_only {
            Some(_) => &plan.workload.reads_only(),
            None => &plan.workload,
        };
        let blocks = method(job, aim, number);
        let prepared = &self.blocks[&(at, blocks.schema)];
        let draw = Draw::new(workload, &aim.spec, number, number % plan.run.sessions_per_schema);
        let actor = Actor::Blocks(blocks::Actor::new(draw, Operator::new(prepared, &blocks)));
        let setup = SessionSetup {
            number,
            statements: Arc::clone(&prepared.statements),
            rehearsal: prepared.rehearsal(&blocks),
            commit: workload.commit,
            protocol: workload.protocol,
            connect: workload.connect,
            blocks: Some(blocks),
            bulk: None,
            read_only: false,
            slices: workload.drive == Drive::Server,
            clock: Arc::clone(&job.clock),
        };
        (setup, actor)
    }
}

/// Whether sessions on `target` send requests together whose answers nobody waits for: what comes as text does not.
pub(crate) fn pipelines(target: &dyn Target, protocol: Protocol) -> bool {
    target.capabilities().pipelines && protocol != Protocol::Simple
}

/// What sessions of `plan` do beside the common operations.
pub(crate) fn extra(plan: &Plan) -> Extra {
    Extra {
        hot_schema: plan.workload.hot_schema_every > 0 && plan.data.schemas > 1,
        churn: plan.workload.churn_pct() > 0,
        secondary: plan.workload.secondary_pct > 0,
    }
}

/// The method of session `number` on `aim`.
fn method(job: &Job<'_>, aim: &Aim, number: u32) -> Blocks {
    let plan = job.plan;
    Blocks {
        schema: number / plan.run.sessions_per_schema + 1,
        spec: aim.spec.clone(),
        work_unit: plan.workload.work_unit,
        redo: plan.workload.redo,
        extra: extra(plan),
        seed: plan.workload.seed(),
        run_stamp: job.run_stamp,
        session: number,
    }
}
