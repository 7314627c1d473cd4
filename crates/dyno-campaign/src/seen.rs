//! Statements that a target has seen, as a workload would have them.

use dyno_engine::seen::{Asked, ParameterTypes};
use dyno_plan::Plan;
use dyno_workload::own::statements::{Options, Picked, pick};

use crate::error::Error;
use crate::lead::Lead;
use crate::targets::Targets;

/// What was picked of the statements that the target of `plan` has seen, with the types of the parameters of each; nothing of them is
/// executed.
///
/// # Errors
/// It cannot be reached, or keeps no statistics of statements: with the way out. Or there are several targets.
pub fn seen(
    lead: &Lead<'_>,
    plan: &Plan,
    asked: &Asked,
    options: &Options,
) -> Result<(Picked, Vec<ParameterTypes>), Error> {
    let targets = Targets::reach(lead, plan)?;
    if targets.is_several() {
        let hint = "name one with --target, and make a folder for each";
        return Err(Error::usage("statements are taken of one target, and there are several", hint));
    }
    let reached = targets.first();
    let picked = pick(reached.named(reached.target.seen(asked))?, options);
    let mark = reached.target.dialect().mark;
    let texts: Vec<String> = picked.chosen.iter().map(|one| one.marked(mark)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let types = reached.named(reached.target.parameter_types(&texts))?;
    Ok((picked, types))
}
