//! `dyno export`: writes every interval of a run, one per line, for runs of any length.

use std::io::{self, Write};

use dyno_campaign::{files, select};
use dyno_record::{Repository, RunRecord, Series, SeriesPoint};
use dyno_report::SeriesCsv;
use serde::Serialize;

use crate::cli::{CommonArgs, Export};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};
use crate::output::StdoutWriter;

#[derive(Serialize)]
struct Line {
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    #[serde(flatten)]
    point: SeriesPoint,
}

pub(super) fn run(common: &CommonArgs, args: &Export, talk: &Console) -> anyhow::Result<Exit> {
    let repository = context::repository_to_read(common)?;
    let records = select::of_runs(&repository, &args.run)?;
    let [record] = records.as_slice() else {
        return Err(usage(format!("{} names {} runs", args.run, records.len()), "name one of them"));
    };
    let source = Source { repository: &repository, record, overview: args.overview };
    source.check(talk)?;
    if common.json {
        talk.json_each(|each| {
            source.each(&mut |target, point| {
                let phase = record.phase_of(point).map(|phase| phase.name.clone());
                each(&Line { target: target.to_owned(), phase, point: point.clone() })
            })
        })?;
        return Ok(Exit::Done);
    }
    match args.output.as_deref().filter(|path| *path != std::path::Path::new("-")) {
        Some(path) => {
            files::replace_with(path, |out| csv(&source, out))
                .map_err(|error| error.context(format!("{} cannot be written", path.display())))?;
            talk.say(&format!("written: {}", path.display()));
        }
        None => csv(&source, &mut StdoutWriter::text())?,
    }
    Ok(Exit::Done)
}

fn csv(source: &Source<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    let csv = SeriesCsv::of(source.record);
    let mut out = io::BufWriter::new(out);
    out.write_all(csv.head().as_bytes())?;
    source.each(&mut |target, point| {
        out.write_all(csv.line(target, point).as_bytes())?;
        Ok(())
    })?;
    out.flush()?;
    Ok(())
}

/// Where the intervals of a run are stored.
struct Source<'a> {
    repository: &'a Repository,
    record: &'a RunRecord,
    /// Whether to export the record's overview.
    overview: bool,
}

impl Source<'_> {
    /// The series of all targets together and, if there are several, of each, with their URLs.
    fn parts(&self) -> impl Iterator<Item = (u32, String, &Series)> {
        let all = self.record.targets.iter().map(|target| target.url.as_str()).collect::<Vec<_>>().join(" ");
        let numbered_targets = (1..).zip(&self.record.targets);
        let target_series = numbered_targets
            .filter_map(|(part, target)| Some((part, target.url.clone(), &target.own.as_ref()?.series)));
        std::iter::once((0, all, &self.record.series)).chain(target_series)
    }

    /// Reports incomplete series, and refuses missing ones.
    fn check(&self, talk: &Console) -> anyhow::Result<()> {
        let Some(full) = self.record.series.full.as_ref().filter(|_| !self.overview) else { return Ok(()) };
        let stored = self.repository.chunked_points(&self.record.id, 0)?;
        if stored == 0 {
            let why =
                full.lacks.as_deref().unwrap_or("its record was imported and contains only an overview");
            return Err(usage(
                format!("the full series of run {} is not in this repository: {why}", self.record.id),
                "--overview writes the overview in the record",
            ));
        }
        if stored < full.points {
            let why = full.lacks.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            talk.say(&format!("warning: {stored} of {} intervals are stored{why}", full.points));
        }
        Ok(())
    }

    /// Passes every interval with its target to `take`.
    fn each(&self, take: &mut dyn FnMut(&str, &SeriesPoint) -> anyhow::Result<()>) -> anyhow::Result<()> {
        for (part, target, series) in self.parts() {
            if series.full.is_none() || self.overview {
                series.points.iter().try_for_each(|point| take(&target, point))?;
                continue;
            }
            for chunk in self.repository.chunks(&self.record.id, part) {
                chunk?.points.iter().try_for_each(|point| take(&target, point))?;
            }
        }
        Ok(())
    }
}
