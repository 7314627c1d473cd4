//! Prepares what sessions need before they start: their statements, and what turns operations into requests.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use dyno_engine::{BlockSessionConfig, Bulk, Extra, SessionSetup, Statement, Target};
use dyno_plan::{DriveMode, Plan, StatementProtocol};
use dyno_workload::blocks::{self, Operator};
use dyno_workload::custom;
use dyno_workload::{OperationGenerator, SessionActor};

use crate::job::{DriveJob, TargetContext};

/// The statements of a run's sessions.
#[derive(Default)]
pub(crate) struct PreparedSessions {
    /// For the block workload, by target and schema.
    blocks: BTreeMap<(usize, u32), blocks::PreparedBlockStatements>,
    /// For custom workloads, by workload and target.
    own: Vec<Vec<Arc<[Statement]>>>,
    /// The first class of each custom workload.
    first_classes: Vec<u8>,
}

impl PreparedSessions {
    /// For the sessions of `job`, where session `n` uses the target at `target_of[n]`.
    ///
    /// # Errors
    /// A target cannot hold the data; a description of the error.
    pub(crate) fn of(job: &DriveJob<'_>, target_of: &[usize]) -> Result<Self, String> {
        let mut all = Self::default();
        for custom in &job.custom_workloads {
            let statements_for = |context: &TargetContext| {
                custom.statements(context.target.engine(), context.target.dialect())
            };
            let statements = job.targets.iter().map(statements_for).collect::<Result<_, _>>();
            all.own.push(statements.map_err(|fault| fault.to_string())?);
        }
        if job.is_custom() {
            let classes = job.classes();
            let first = |place| classes.of_workload(place).next().and_then(|class| class.place());
            all.first_classes =
                (0..job.custom_workloads.len()).map(|place| first(place).unwrap_or(0) as u8).collect();
            return Ok(all);
        }
        for (number, &at) in (0..).zip(target_of) {
            let target_context = &job.targets[at];
            let blocks = method(job, target_context, number);
            if let Entry::Vacant(entry) = all.blocks.entry((at, blocks.schema)) {
                let workload = &job.plan.workload;
                let prepared = blocks::PreparedBlockStatements::new(
                    target_context.target.as_ref(),
                    &blocks,
                    workload.drive,
                    workload.commit,
                );
                entry.insert(prepared.map_err(|error| format!("{}{error}", job.label(at)))?);
            }
        }
        Ok(all)
    }

    /// All statements of the sessions on the target at `at`.
    pub(crate) fn statements(&self, at: usize) -> impl Iterator<Item = &Statement> {
        let blocks = self.blocks.iter().filter(move |((target, _), _)| *target == at);
        let blocks = blocks.flat_map(|(_, prepared)| prepared.statements.iter());
        let custom = self.own.iter().filter_map(move |targets| targets.get(at));
        blocks.chain(custom.flat_map(|statements| statements.iter()))
    }

    /// The setup of session `number`, which uses the target at `at`.
    pub(crate) fn session(&self, job: &DriveJob<'_>, at: usize, number: u32) -> (SessionSetup, SessionActor) {
        match job.is_custom() {
            true => self.own_session(job, at, number),
            false => self.method_session(job, at, number),
        }
    }

    fn own_session(&self, job: &DriveJob<'_>, at: usize, number: u32) -> (SessionSetup, SessionActor) {
        let (workload, engine) = (&job.plan.workload, job.targets[at].target.engine());
        let (side, _) = job.plan.share_of(number);
        let actor = custom::CustomActor::new(&job.custom_workloads[side], engine, workload.seed(), number);
        let actor = actor.expect("its statements for this engine were made");
        let target = job.targets[at].target.as_ref();
        let actor = actor.pipelining(pipelines(target, workload.protocol));
        let actor = SessionActor::Own(actor.from_class(self.first_classes[side]));
        let setup = SessionSetup {
            number,
            statements: Arc::clone(&self.own[side][at]),
            rehearsal: None,
            commit: workload.commit,
            protocol: workload.protocol,
            connect: workload.connect,
            blocks: None,
            bulk: job.custom_workloads[side].bulk().map(|bulk| Arc::clone(bulk) as Arc<dyn Bulk>),
            read_only: !job.custom_workloads[side].writes(),
            slices: false,
            clock: Arc::clone(&job.clock),
        };
        (setup, actor)
    }

    fn method_session(&self, job: &DriveJob<'_>, at: usize, number: u32) -> (SessionSetup, SessionActor) {
        let (plan, aim) = (job.plan, &job.targets[at]);
        let workload = match aim.reads_only {
            Some(_) => &plan.workload.reads_only(),
            None => &plan.workload,
        };
        let blocks = method(job, aim, number);
        let prepared = &self.blocks[&(at, blocks.schema)];
        let draw =
            OperationGenerator::new(workload, &aim.spec, number, number % plan.run.sessions_per_schema);
        let actor = SessionActor::Blocks(blocks::BlockActor::new(draw, Operator::new(prepared, &blocks)));
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
            slices: workload.drive == DriveMode::Server,
            clock: Arc::clone(&job.clock),
        };
        (setup, actor)
    }
}

/// Whether sessions on `target` pipeline requests whose answers are not needed at once; the text protocol
/// does not allow it.
pub(crate) fn pipelines(target: &dyn Target, protocol: StatementProtocol) -> bool {
    target.capabilities().pipelines && protocol != StatementProtocol::Simple
}

/// What sessions of `plan` do besides the common operations.
pub(crate) fn extra(plan: &Plan) -> Extra {
    Extra {
        hot_schema: plan.workload.hot_schema_every > 0 && plan.data.schemas > 1,
        churn: plan.workload.churn_pct() > 0,
        secondary: plan.workload.secondary_pct > 0,
    }
}

/// The block operations of session `number` on `context`.
fn method(job: &DriveJob<'_>, context: &TargetContext, number: u32) -> BlockSessionConfig {
    let plan = job.plan;
    BlockSessionConfig {
        schema: number / plan.run.sessions_per_schema + 1,
        spec: context.spec.clone(),
        work_unit: plan.workload.work_unit,
        redo: plan.workload.redo,
        extra: extra(plan),
        seed: plan.workload.seed(),
        run_stamp: job.run_stamp,
        session: number,
    }
}
