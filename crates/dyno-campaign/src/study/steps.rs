//! Lists every command of a study in the order in which it would run.

use dyno_plan::study::{DataReset, Need, ReversibleCommands, StudyPlan, Variant};

use super::order::StudyDefinition;

/// Returns the phase and the command of each step; for other actions a description. A title has no second
/// part.
pub fn steps(order: &StudyDefinition) -> Vec<(String, String)> {
    let study = &order.study;
    let mut steps: Vec<(String, String)> = Vec::new();
    put(&mut steps, "setup", &study.setup.apply);
    let legs = order.legs();
    for (number, leg) in (1..).zip(&legs) {
        let variant = &study.variants[leg.variant];
        let head = format!("leg {number} of {}: {} (repeat {})", legs.len(), variant.name, leg.repeat);
        steps.push((head, String::new()));
        of_leg(&mut steps, study, variant);
    }
    back(&mut steps, "cleanup", &study.setup);
    steps
}

fn put(steps: &mut Vec<(String, String)>, when: &str, commands: &[String]) {
    steps.extend(commands.iter().map(|command| (when.to_owned(), command.clone())));
}

fn back(steps: &mut Vec<(String, String)>, when: &str, undoable: &ReversibleCommands) {
    steps.extend(undoable.revert.iter().rev().map(|command| (when.to_owned(), command.clone())));
}

fn of_leg(steps: &mut Vec<(String, String)>, study: &StudyPlan, variant: &Variant) {
    for (key, value) in &variant.set {
        steps.push(("plan".to_owned(), format!("{key} = {value}")));
    }
    variant.parts.iter().for_each(|part| put(steps, "apply", &part.apply));
    if variant.needs(Need::Reboot) {
        steps.push((
            "reboot".to_owned(),
            "restart the machine; `dyno study resume` continues here".to_owned(),
        ));
    }
    put(steps, "serve", &study.serve.apply);
    if variant.needs(Need::RestartDatabase) {
        put(steps, "restart", &study.restart);
    }
    put(steps, "verify", &study.serve.verify);
    variant.parts.iter().for_each(|part| put(steps, "verify", &part.verify));
    for task in &study.tasks {
        match study.state {
            DataReset::Reload => steps
                .push(("data".to_owned(), format!("{}: Dyno drops its data and loads it again", task.name))),
            DataReset::Restore | DataReset::Clone => put(steps, "reset", &study.reset),
        }
        for (name, value) in &variant.settings {
            steps.push(("verify".to_owned(), format!("the database reports {name} = {value}")));
        }
        if task.run {
            let sets: Vec<String> = task.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let sets = if sets.is_empty() { String::new() } else { format!(" ({})", sets.join(", ")) };
            steps.push(("measure".to_owned(), format!("{}{sets}", task.name)));
        }
    }
    if study.state == DataReset::Reload {
        steps.push(("data".to_owned(), "Dyno drops its data".to_owned()));
    }
    back(steps, "serve back", &study.serve);
    variant.parts.iter().rev().for_each(|part| back(steps, "revert", part));
    if variant.needs(Need::RestartDatabase) {
        put(steps, "restart", &study.restart);
    }
}
