//! The way of a load: what is there is recognised, resumed, replaced or refused.

use std::time::Instant;

use dyno_plan::DataSpec;

use super::loading::Written;
use crate::error::TargetError;
use crate::load::{DataState, LoadOptions, LoadReport, SchemaFacts};

/// What an engine does for a load of one spec, on a connection that leads it.
pub trait Layout {
    /// What is there, and whatever resuming needs to know beside it.
    type Found;

    /// Whose the metadata are, as in "nobody else drops `tables dyno_…`".
    const OBJECTS: &'static str;

    /// Reads the metadata; `None` if there is none of Dyno's that describes anything.
    ///
    /// # Errors
    /// It cannot be used.
    fn find(&mut self) -> Result<Option<Self::Found>, TargetError>;

    /// What users see of it.
    fn state(found: &Self::Found) -> &DataState;

    /// Removes what is there, also what a load that was killed at its very beginning has left.
    ///
    /// # Errors
    /// The database refuses.
    fn remove(&mut self) -> Result<(), TargetError>;

    /// Describes the spec.
    ///
    /// # Errors
    /// The database refuses.
    fn begin(&mut self) -> Result<(), TargetError>;

    /// Makes what is missing of tables and procedures, such as those that a load of an older version has not made.
    ///
    /// # Errors
    /// The database refuses.
    fn complete(&mut self, found: &Self::Found) -> Result<(), TargetError>;

    /// Writes the rows that are not there yet, and builds what belongs to them.
    ///
    /// # Errors
    /// The database refuses, or the user wants to stop.
    fn fill(&mut self, found: &Self::Found) -> Result<Written, TargetError>;

    /// Measures every table, and notes that the load is finished.
    ///
    /// # Errors
    /// A table is not what it shall be.
    fn verify(&mut self) -> Result<Vec<SchemaFacts>, TargetError>;
}

/// Creates, fills and verifies the data of `spec`; see [`crate::Dataset::load`].
///
/// # Errors
/// As [`crate::Dataset::load`].
pub fn load<L: Layout>(
    layout: &mut L,
    spec: &DataSpec,
    options: &LoadOptions,
) -> Result<LoadReport, TargetError> {
    let began = Instant::now();
    let report = |already, written: Written, tables| LoadReport {
        spec: spec.clone(),
        already,
        rows_written: written.rows,
        bytes_written: written.bytes,
        seconds: began.elapsed().as_secs_f64(),
        tables,
    };
    let mut found = layout.find()?;
    match found.as_ref().map(L::state) {
        Some(DataState::Loaded { spec: there, .. } | DataState::Partial { spec: there, .. })
            if there == spec => {}
        Some(other) if !options.replace => return Err(refused(other, spec)),
        _ => {
            layout.remove()?;
            layout.begin()?;
            found = layout.find()?;
        }
    }
    let found = found.ok_or_else(|| {
        let way_out = format!("make sure that nobody else drops {}, and load again", L::OBJECTS);
        TargetError::data("the metadata was dropped while the load began").hint(way_out)
    })?;
    layout.complete(&found)?;
    if let DataState::Loaded { tables, .. } = L::state(&found) {
        return Ok(report(true, Written::default(), tables.clone()));
    }
    let written = layout.fill(&found)?;
    let tables = layout.verify()?;
    Ok(report(false, written, tables))
}

/// Why data of `wanted` is not loaded where there is `state`.
pub fn refused(state: &DataState, wanted: &DataSpec) -> TargetError {
    let (what, there) = match state {
        DataState::Partial { spec, .. } => ("a load of other data was begun and not finished", spec),
        DataState::Loaded { spec, .. } => ("other data is loaded", spec),
        DataState::Empty => ("nothing is loaded", wanted),
    };
    let message = format!("{what}: {} is there, and the plan asks for {}", words(there), words(wanted));
    TargetError::data(message).hint("load with --replace to drop it first, or change the plan")
}

fn words(spec: &DataSpec) -> String {
    let DataSpec { schemas, rows, scan_rows, block_size, compressible, seed, secondary } = spec;
    let secondary = if *secondary { "" } else { ", no secondary key" };
    format!(
        "{schemas} schemas of {rows} rows and {scan_rows} scan rows in blocks of {block_size} bytes, {compressible} % \
         compressible, seed {seed}{secondary}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::spec;
    use super::*;

    /// A layout that writes down what it is asked.
    #[derive(Default)]
    struct Script {
        there: Option<DataState>,
        asked: Vec<&'static str>,
    }

    impl Layout for Script {
        type Found = DataState;

        const OBJECTS: &'static str = "my tables";

        fn find(&mut self) -> Result<Option<DataState>, TargetError> {
            Ok(self.there.clone())
        }

        fn state(found: &DataState) -> &DataState {
            found
        }

        fn remove(&mut self) -> Result<(), TargetError> {
            self.asked.push("remove");
            self.there = None;
            Ok(())
        }

        fn begin(&mut self) -> Result<(), TargetError> {
            self.asked.push("begin");
            self.there = Some(partial(spec(0, true)));
            Ok(())
        }

        fn complete(&mut self, _: &DataState) -> Result<(), TargetError> {
            self.asked.push("complete");
            Ok(())
        }

        fn fill(&mut self, _: &DataState) -> Result<Written, TargetError> {
            self.asked.push("fill");
            Ok(Written { rows: 10, bytes: 100 })
        }

        fn verify(&mut self) -> Result<Vec<SchemaFacts>, TargetError> {
            self.asked.push("verify");
            Ok(Vec::new())
        }
    }

    fn partial(spec: DataSpec) -> DataState {
        DataState::Partial { spec, since: String::new(), rows: 0 }
    }

    fn loaded(spec: DataSpec) -> DataState {
        DataState::Loaded { spec, at: String::new(), tables: Vec::new() }
    }

    fn asked(there: Option<DataState>, replace: bool) -> Result<(Vec<&'static str>, bool), String> {
        let mut script = Script { there, ..Script::default() };
        let options = LoadOptions { parallel: 1, replace, dyno_version: String::new() };
        let report = load(&mut script, &spec(0, true), &options).map_err(|error| error.message)?;
        Ok((script.asked, report.already))
    }

    #[test]
    fn what_is_there_is_recognised_resumed_replaced_or_refused() {
        let own = || spec(0, true);
        let other = || DataSpec { seed: 9, ..own() };
        let fresh = vec!["remove", "begin", "complete", "fill", "verify"];
        assert_eq!(asked(None, false), Ok((fresh.clone(), false)));
        assert_eq!(asked(Some(loaded(own())), false), Ok((vec!["complete"], true)));
        assert_eq!(asked(Some(partial(own())), false), Ok((vec!["complete", "fill", "verify"], false)));
        assert_eq!(asked(Some(loaded(other())), true), Ok((fresh, false)));
        let refusal = asked(Some(partial(other())), false).unwrap_err();
        assert!(refusal.starts_with("a load of other data was begun"), "{refusal}");
        assert!(refusal.contains("seed 9 is there, and the plan asks for 2 schemas of 5 rows"), "{refusal}");
    }
}
