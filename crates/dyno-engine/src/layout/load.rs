//! Controls a load: recognizes existing data, and resumes, replaces or refuses it.

use std::time::Instant;

use dyno_plan::DataSpec;

use super::loading::LoadTotals;
use crate::error::TargetError;
use crate::load::{DataState, LoadOptions, LoadReport, SchemaFacts};

/// An engine's steps of a load of one spec, each on the main connection (`C`). `F` is the existing data with
/// what resuming needs. A step fails where the database refuses.
pub struct LoadSteps<'a, C, F> {
    /// The objects of the metadata, as in "nobody else drops `tables dyno_…`".
    pub objects: &'static str,
    /// Reads Dyno's metadata; `None` where there is none.
    pub find: &'a dyn Fn(&mut C) -> Result<Option<F>, TargetError>,
    /// The state of the existing data.
    pub state: fn(&F) -> &DataState,
    /// Removes the existing data, including what a load left that was killed in its first moments.
    pub remove: &'a dyn Fn(&mut C) -> Result<(), TargetError>,
    /// Writes the metadata that describes the spec.
    pub begin: &'a dyn Fn(&mut C) -> Result<(), TargetError>,
    /// Creates missing tables and procedures, such as those that an older version did not create.
    pub complete: &'a dyn Fn(&mut C, &F) -> Result<(), TargetError>,
    /// Writes the missing rows and builds their indexes; the user may stop it.
    pub fill: &'a dyn Fn(&mut C, &F) -> Result<LoadTotals, TargetError>,
    /// Measures every table and notes that the load is finished; fails where a table is not as expected.
    pub verify: &'a dyn Fn(&mut C) -> Result<Vec<SchemaFacts>, TargetError>,
}

impl<C, F> LoadSteps<'_, C, F> {
    /// Creates, fills and verifies the data of `spec`; see [`crate::BlockData::load`].
    ///
    /// # Errors
    /// As [`crate::BlockData::load`].
    pub fn load(
        &self,
        control: &mut C,
        spec: &DataSpec,
        options: &LoadOptions,
    ) -> Result<LoadReport, TargetError> {
        let began = Instant::now();
        let report = |already, written: LoadTotals, tables| LoadReport {
            spec: spec.clone(),
            already,
            rows_written: written.rows,
            bytes_written: written.bytes,
            seconds: began.elapsed().as_secs_f64(),
            tables,
        };
        let mut existing = (self.find)(control)?;
        match existing.as_ref().map(self.state) {
            Some(
                DataState::Loaded { spec: loaded_spec, .. } | DataState::Partial { spec: loaded_spec, .. },
            ) if loaded_spec == spec => {}
            Some(other) if !options.replace => return Err(refused(other, spec)),
            _ => {
                (self.remove)(control)?;
                (self.begin)(control)?;
                existing = (self.find)(control)?;
            }
        }
        let stored_layout = existing.ok_or_else(|| {
            let way_out = format!("make sure that no other user drops {}, then load again", self.objects);
            TargetError::data("the metadata was dropped while the load started").hint(way_out)
        })?;
        (self.complete)(control, &stored_layout)?;
        if let DataState::Loaded { tables, .. } = (self.state)(&stored_layout) {
            return Ok(report(true, LoadTotals::default(), tables.clone()));
        }
        let written = (self.fill)(control, &stored_layout)?;
        let tables = (self.verify)(control)?;
        Ok(report(false, written, tables))
    }
}

/// The error that existing data in `state` prevents a load of `wanted`.
pub fn refused(state: &DataState, wanted: &DataSpec) -> TargetError {
    let (what, there) = match state {
        DataState::Partial { spec, .. } => ("a load of other data was started and not finished", spec),
        DataState::Loaded { spec, .. } => ("other data is loaded", spec),
        DataState::Empty => ("nothing is loaded", wanted),
    };
    let message = format!(
        "{what}: the target has {}, the plan asks for {}",
        describe_spec(there),
        describe_spec(wanted)
    );
    TargetError::data(message).hint("load with --replace to drop it first, or change the plan")
}

fn describe_spec(spec: &DataSpec) -> String {
    let DataSpec { schemas, rows, scan_rows, block_size, compressible, seed, secondary, copied } = spec;
    let secondary = if *secondary { "" } else { ", no secondary key" };
    let copied = if *copied { ", schemas 2 and above copied from schema 1" } else { "" };
    format!(
        "{schemas} schemas of {rows} rows and {scan_rows} scan rows in blocks of {block_size} bytes, {compressible} % \
         compressible, seed {seed}{secondary}{copied}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::spec;
    use super::*;

    /// Records the state and the steps that were called.
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

    fn run_steps(initial: Option<DataState>, replace: bool) -> Result<(Vec<&'static str>, bool), String> {
        let mut script = Script { there: initial, ..Script::default() };
        let steps = LoadSteps {
            objects: "my tables",
            find: &|script: &mut Script| Ok(script.there.clone()),
            state: |unchanged| unchanged,
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
                Ok(LoadTotals { rows: 10, bytes: 100 })
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
    fn existing_data_is_recognized_resumed_replaced_or_refused() {
        let planned = || spec(0, true);
        let other = || DataSpec { seed: 9, ..planned() };
        let fresh = vec!["remove", "begin", "complete", "fill", "verify"];
        assert_eq!(run_steps(None, false), Ok((fresh.clone(), false)));
        assert_eq!(run_steps(Some(loaded(planned())), false), Ok((vec!["complete"], true)));
        assert_eq!(
            run_steps(Some(partial(planned())), false),
            Ok((vec!["complete", "fill", "verify"], false))
        );
        assert_eq!(run_steps(Some(loaded(other())), true), Ok((fresh, false)));
        let refusal = run_steps(Some(partial(other())), false).unwrap_err();
        assert!(refusal.starts_with("a load of other data was started"), "{refusal}");
        assert!(refusal.contains("seed 9, the plan asks for 2 schemas of 5 rows"), "{refusal}");
        let copied = DataSpec { copied: true, ..planned() };
        let refusal = run_steps(Some(loaded(copied)), false).unwrap_err();
        assert!(refusal.contains("seed 1, schemas 2 and above copied from schema 1, the plan"), "{refusal}");
    }
}
