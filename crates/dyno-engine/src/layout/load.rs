//! The way of a load: what is there is recognised, resumed, replaced or refused.

use std::time::Instant;

use dyno_plan::DataSpec;

use super::loading::Written;
use crate::error::TargetError;
use crate::load::{DataState, LoadOptions, LoadReport, SchemaFacts};

/// What an engine does for a load of one spec, each step on the connection that leads it (`C`); `F` is what is there, and whatever
/// resuming needs to know beside it. A step fails where the database refuses.
pub struct Steps<'a, C, F> {
    /// Whose the metadata are, as in "nobody else drops `tables dyno_…`".
    pub objects: &'static str,
    /// Reads the metadata; `None` if there is none of Dyno's that describes anything.
    pub find: &'a dyn Fn(&mut C) -> Result<Option<F>, TargetError>,
    /// What users see of it.
    pub state: fn(&F) -> &DataState,
    /// Removes what is there, also what a load that was killed at its very beginning has left.
    pub remove: &'a dyn Fn(&mut C) -> Result<(), TargetError>,
    /// Describes the spec.
    pub begin: &'a dyn Fn(&mut C) -> Result<(), TargetError>,
    /// Makes what is missing of tables and procedures, such as those that a load of an older version has not made.
    pub complete: &'a dyn Fn(&mut C, &F) -> Result<(), TargetError>,
    /// Writes the rows that are not there yet, and builds what belongs to them; the user may want to stop.
    pub fill: &'a dyn Fn(&mut C, &F) -> Result<Written, TargetError>,
    /// Measures every table, and notes that the load is finished; fails where a table is not what it shall be.
    pub verify: &'a dyn Fn(&mut C) -> Result<Vec<SchemaFacts>, TargetError>,
}

impl<C, F> Steps<'_, C, F> {
    /// Creates, fills and verifies the data of `spec`; see [`crate::Dataset::load`].
    ///
    /// # Errors
    /// As [`crate::Dataset::load`].
    pub fn load(
        &self,
        control: &mut C,
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
        let mut found = (self.find)(control)?;
        match found.as_ref().map(self.state) {
            Some(DataState::Loaded { spec: there, .. } | DataState::Partial { spec: there, .. })
                if there == spec => {}
            Some(other) if !options.replace => return Err(refused(other, spec)),
            _ => {
                (self.remove)(control)?;
                (self.begin)(control)?;
                found = (self.find)(control)?;
            }
        }
        let found = found.ok_or_else(|| {
            let way_out = format!("make sure that nobody else drops {}, and load again", self.objects);
            TargetError::data("the metadata was dropped while the load began").hint(way_out)
        })?;
        (self.complete)(control, &found)?;
        if let DataState::Loaded { tables, .. } = (self.state)(&found) {
            return Ok(report(true, Written::default(), tables.clone()));
        }
        let written = (self.fill)(control, &found)?;
        let tables = (self.verify)(control)?;
        Ok(report(false, written, tables))
    }
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

    /// What is there, and what was asked.
    #[derive(Default)]
    struct Script {
        there: Option<DataState>,
        asked: Vec<&'static str>,
    }

    fn partial(spec: DataSpec) -> DataState {
        DataState::Partial { spec, since: String::new(), rows: 0 }
    }

    fn loaded(spec: DataSpec) -> DataState {
        DataState::Loaded { spec, at: String::new(), tables: Vec::new() }
    }

    fn asked(there: Option<DataState>, replace: bool) -> Result<(Vec<&'static str>, bool), String> {
        let mut script = Script { there, ..Script::default() };
        let steps = Steps {
            objects: "my tables",
            find: &|script: &mut Script| Ok(script.there.clone()),
            state: |found| found,
            remove: &|script| {
                script.asked.push("remove");
                script.there = None;
                Ok(())
            },
            begin: &|script| {
                script.asked.push("begin");
                script.there = Some(partial(spec(0, true)));
                Ok(())
            },
            complete: &|script, _| {
                script.asked.push("complete");
                Ok(())
            },
            fill: &|script, _| {
                script.asked.push("fill");
                Ok(Written { rows: 10, bytes: 100 })
            },
            verify: &|script| {
                script.asked.push("verify");
                Ok(Vec::new())
            },
        };
        let options = LoadOptions { parallel: 1, replace, dyno_version: String::new() };
        let report = steps.load(&mut script, &spec(0, true), &options).map_err(|error| error.message)?;
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
