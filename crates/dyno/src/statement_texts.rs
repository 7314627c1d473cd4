//! Texts of a custom workload's statements for its records, which hold only names.

use std::path::Path;

use dyno_plan::WorkloadSettings;
use dyno_record::{CountedStatements, RunRecord, TopStatements};
use dyno_workload::custom::{CustomWorkload, TransactionFilter, WorkloadChoice};

/// Adds the texts from the workload's files to the record's top statements, to be shown and not stored. Nothing
/// changes where the files are not here, or are not those of the run.
pub(crate) fn add(record: &mut RunRecord) {
    let Some(digest) = record.workload.as_ref().map(|facts| facts.digest.as_str()) else { return };
    let engine = record.targets.first().map_or("", |target| target.engine.as_str());
    if let Some(TopStatements::Counted(counted)) = &mut record.statements {
        add_to(counted, &record.plan.workload, digest, engine);
    }
}

fn add_to(counted: &mut CountedStatements, workload: &WorkloadSettings, digest: &str, engine: &str) {
    let Some(folder) = &workload.folder else { return };
    let choice = WorkloadChoice {
        scale: workload.scale,
        mix: workload.mix.as_deref(),
        options: &workload.options,
        part: TransactionFilter::All,
    };
    let Ok(files) = CustomWorkload::read_as(Path::new(folder.as_str()), choice) else { return };
    let Some(described) = files.described(engine).ok().filter(|_| files.digest() == digest) else { return };
    for one in counted.statements.iter_mut().filter(|one| one.text.is_none()) {
        let named = one.operation.as_deref().and_then(|names| names.split(", ").next());
        let mut statements = described.iter().flat_map(|transaction| &transaction.statements);
        let statement = statements.find(|statement| Some(statement.name.as_str()) == named);
        one.text = statement.map(|found| found.sql.chars().take(CountedStatements::TEXT_MAX).collect());
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::StatementUse;

    use super::*;

    #[test]
    fn texts_of_statements_come_from_unchanged_files_only() {
        let workload = CustomWorkload::read(Path::new("@tpcb")).unwrap();
        let described = workload.described("postgres").unwrap();
        let first = &described[0].statements[0];
        let used = StatementUse { operation: Some(first.name.clone()), ..StatementUse::default() };
        let mut counted = CountedStatements { statements: vec![used], ..CountedStatements::default() };
        let settings = WorkloadSettings { folder: Some("@tpcb".into()), ..WorkloadSettings::default() };
        add_to(&mut counted, &settings, "another", "postgres");
        assert_eq!(counted.statements[0].text, None);
        add_to(&mut counted, &settings, workload.digest(), "postgres");
        assert_eq!(counted.statements[0].text.as_deref(), Some(first.sql.as_str()));
    }
}
