//! The content of a report, independent of its format: the answer, its charts, its tables.

use dyno_analyze::CurveSummaries;
use dyno_analyze::conclusion::suite::SuiteResult;
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures as Concluded};
use dyno_analyze::knee::knee;
use dyno_analyze::limited::{Component, limited};
use dyno_analyze::number::{self, count, figure, optional, percent, span_s, time_us};
use dyno_analyze::points::{Measure, MeasuredPoint, Points, Survey};
use dyno_record::{RecordKind, RunRecord, Status, SweepKind};

use crate::chart::Chart;
use crate::content::ab_test::{side_settings, side_summaries};
use crate::content::audit::audit_summary;
use crate::content::load_profile;
use crate::content::points::{self, points_grid};
use crate::content::ramps;
use crate::content::result::{RunFigures, has_result};
use crate::content::run_facts::RunSetSummary;
use crate::content::runs::{Runs, RunsError};
use crate::content::timed_events;
use crate::figures::{self, OPS, READS, RampCurve, best, ramps, typical, words};
use crate::model::status::IMPORTED;
use crate::model::table::Grid;
use crate::text::capital;

#[derive(Debug)]
pub struct Report<'r> {
    runs: Box<dyn Runs + 'r>,
    /// All runs together, with or without a result.
    pub seen: RunSetSummary,
    /// Results of the runs by point.
    pub points: Points,
    pub charts: Vec<Chart>,
    /// The run shown in detail: the only one, or the typical one at the highest throughput.
    pub close: Option<RunRecord>,
    /// Individual charts of several curves.
    pub multiples: Vec<Chart>,
    /// For a sweep: throughput at each load of each curve, and the dominant resource there.
    pub matrix: Option<(Grid, Grid)>,
    /// Charts of the run shown in detail.
    pub close_charts: Vec<Chart>,
    /// Sentences about each curve over sessions.
    pub curves: Vec<CurveWords>,
    /// Conclusions of commands from these runs.
    pub conclusions: Vec<Conclusion>,
    /// The answer of each curve.
    pub answers: CurveSummaries,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveWords {
    /// Settings that distinguish it; empty for a single curve.
    pub name: String,
    /// Its fit and its knee, one sentence each.
    pub sentences: Vec<String>,
    /// Position of its knee, if it has one and it is the curve with the highest throughput.
    knee_of_best: Option<String>,
}

/// The answer: one sentence and a few notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportAnswer {
    pub line: String,
    /// Notes that qualify the answer.
    pub more: Vec<String>,
    /// Whether there is a result.
    pub has_result: bool,
}

impl<'r> Report<'r> {
    /// The record of this report if it is a component's and not a run's.
    pub(crate) fn component(&self) -> Option<&RunRecord> {
        self.seen.first.as_ref().filter(|first| self.seen.runs == 1 && first.kind == RecordKind::Component)
    }

    pub fn of(records: &'r [RunRecord]) -> Self {
        Self::over(records).expect("records in memory can be read")
    }

    /// Builds the report of `runs`, which are read twice, and again wherever each of them is shown. The
    /// caller adds the conclusions of commands.
    ///
    /// # Errors
    /// A run cannot be read.
    pub fn over(runs: impl Runs + 'r) -> Result<Self, RunsError> {
        let mut survey = Survey::default();
        runs.each(&mut |record| {
            survey.observe(record);
            Ok(())
        })?;
        let (mut grouping, mut seen) = (survey.grouping(), RunSetSummary::default());
        runs.each(&mut |record| {
            grouping.add(record);
            seen.see(record);
            Ok(())
        })?;
        let points = grouping.points();
        let ramps = ramps(&points);
        let charts = figures::of_points(&points, &ramps);
        let (matrix, multiples) = (crate::content::matrix::matrix(&points), figures::multiples(&points));
        let curves = ramps.iter().map(|ramp| curve_words(ramp, best(&points))).collect();
        drop(ramps);
        let close = match best(&points) {
            Some(best) => Some(runs.one(&typical(best).id)?),
            None => seen.first.clone().filter(|first| seen.runs == 1 && has_result(first)),
        };
        let close_charts = close.as_ref().map(figures::of_run).unwrap_or_default();
        let answers = match &close {
            Some(one) if seen.runs == 1 => CurveSummaries::of_run(one),
            _ => CurveSummaries::of(&points),
        };
        let (runs, conclusions) = (Box::new(runs), Vec::new());
        Ok(Self {
            runs,
            seen,
            points,
            charts,
            close,
            matrix,
            multiples,
            close_charts,
            curves,
            conclusions,
            answers,
        })
    }

    /// Adds the conclusions of commands. The tests of a suite are not points of one curve: its charts are
    /// those of its units.
    pub fn conclude(&mut self, conclusions: Vec<Conclusion>) {
        self.conclusions = conclusions;
        if let [Conclusion { figures: Concluded::Search(search), .. }] = self.conclusions.as_slice() {
            self.answers = search.summaries(&self.points);
        }
        if let Some(charts) = self.suite().map(crate::content::suite::all_charts) {
            (self.charts, self.close_charts) = (charts, Vec::new());
            (self.matrix, self.multiples) = (None, Vec::new());
        }
        if let Some(test) = self.ab_test().cloned() {
            self.answers = side_summaries(&self.points, &test);
            let names = [&test.a, &test.b].map(side_settings);
            // Curves through two sides would show a trend that was not measured.
            self.charts.retain(|chart| chart.id != "throughput" && !chart.id.starts_with("petal"));
            (self.matrix, self.multiples, self.curves) = (None, Vec::new(), Vec::new());
            self.charts.splice(0..0, figures::ab_runs(&self.points, &test, names));
        }
    }

    /// The suite to which the runs belong, if any.
    pub fn suite(&self) -> Option<&SuiteResult> {
        self.conclusions.iter().find_map(|conclusion| match &conclusion.figures {
            Concluded::Suite(suite) => Some(&**suite),
            _ => None,
        })
    }

    /// Whether the answers of curves apply: they do not for tests of a suite, a watch and a machine's raw
    /// limits.
    pub fn has_answers(&self) -> bool {
        let is_run = self.seen.first.as_ref().is_some_and(CurveSummaries::has_summary);
        is_run && !self.answers.curves.is_empty() && self.suite().is_none()
    }

    /// Passes each run to `take`, in the order in which they ran.
    ///
    /// # Errors
    /// A run cannot be read, or `take` fails.
    pub fn each(&self, mut take: impl FnMut(&RunRecord) -> Result<(), RunsError>) -> Result<(), RunsError> {
        self.runs.each(&mut take)
    }

    /// The run whose audit and platform are shown: the one shown in detail, or the first.
    pub fn shown(&self) -> Option<&RunRecord> {
        self.close.as_ref().or(self.seen.first.as_ref())
    }

    /// Every chart, those over all points first.
    pub fn all_charts(&self) -> impl Iterator<Item = &Chart> {
        self.charts.iter().chain(&self.close_charts)
    }

    /// The answer over all runs.
    pub fn answer(&self) -> ReportAnswer {
        if let Some(record) = self.component() {
            let line = format!("raw limits of {}: {}", record.host().name, record.status.words());
            return ReportAnswer { line, more: Vec::new(), has_result: false };
        }
        let mut more = Vec::new();
        if !self.points.left_out.is_empty() && self.seen.runs > 1 {
            let (out, all) = (self.points.left_out.len(), self.seen.runs);
            more.push(format!(
                "{} of {} runs have no valid result; they are listed with their reasons.",
                count(out as u64),
                count(all as u64)
            ));
        }
        if let Some((line, words)) = self.campaign_answer() {
            more.splice(0..0, words);
            more.extend(self.imported());
            return ReportAnswer { line, more, has_result: self.close.is_some() };
        }
        let Some(record) = &self.close else {
            let reason = self.points.left_out.first().map_or("there is no run", |out| out.reason.as_str());
            let line = if self.seen.runs > 1 {
                format!("No run has a result; the first one is {reason}.")
            } else {
                format!("No result: {reason}.")
            };
            return ReportAnswer { line, more, has_result: false };
        };
        let line = match best(&self.points).filter(|_| self.points.points.len() > 1) {
            Some(point) => self.most(point),
            None => self.single(record),
        };
        let is_watch = record.kind == RecordKind::Watch;
        more.extend(
            self.limit(record)
                .filter(|_| !is_watch && !self.has_answers())
                .map(|words| format!("{}.", capital(&words))),
        );
        if record.status == Status::Interrupted {
            let kind_word = if is_watch { "watch" } else { "run" };
            more.push(format!("The {kind_word} was interrupted: the figures cover only the measured part."));
        }
        more.extend(self.imported());
        let place = if self.seen.runs > 1 { " of the run at the maximum" } else { "" };
        if !is_watch {
            more.push(format!("Audit{place}: {}.", audit_summary(&record.audit)));
        }
        ReportAnswer { line, more, has_result: true }
    }

    /// The bottleneck, at the maximum or of the only run. For imported figures only what is known.
    fn limit(&self, record: &RunRecord) -> Option<String> {
        let of_point = best(&self.points).and_then(MeasuredPoint::limited);
        let limit = of_point.unwrap_or_else(|| limited(record));
        let is_told = limit.by != Component::Unknown || record.status != Status::Imported;
        is_told.then(|| limit.full())
    }

    /// The answer of the command to which all runs belong, and whether it completed. For a sweep, `None`: the
    /// report's own answer applies.
    fn campaign_answer(&self) -> Option<(String, Vec<String>)> {
        let part = self.seen.part_of.as_ref()?;
        let conclusion = self.conclusions.iter().find(|conclusion| conclusion.of == part.id);
        match (conclusion, part.kind) {
            (_, SweepKind::Sweep) => None,
            (Some(conclusion), _) => {
                let stopped = conclusion.stopped.iter();
                let words = stopped.map(|why| format!("It did not finish: {}.", why.trim_end_matches('.')));
                Some((format!("{}.", capital(&conclusion.line)), words.collect()))
            }
            // The best run of one side would not answer which side is better.
            (None, SweepKind::Ab) if self.seen.runs > 1 => {
                let campaign_id = &part.id;
                Some((
                    format!(
                        "Runs of an A/B test: `dyno compare {campaign_id}/a {campaign_id}/b` compares its sides."
                    ),
                    Vec::new(),
                ))
            }
            (None, _) => None,
        }
    }

    /// A note that figures are imported, and how many.
    fn imported(&self) -> Option<String> {
        match self.seen.imported {
            0 => None,
            all if all == self.seen.runs => Some(format!("{}.", capital(IMPORTED))),
            some => Some(format!("{some} of {} runs are {IMPORTED}.", self.seen.runs)),
        }
    }

    /// The single legend of the mark; `None` if no figure is marked.
    pub fn legend(&self) -> Option<String> {
        self.seen.legend.words(|name| self.shows(name))
    }

    /// Whether one of its tables has this figure.
    fn shows(&self, name: &str) -> bool {
        if self.suite().is_some() {
            return Measure::find(name).is_some();
        }
        let compared = self.ab_test().and_then(|test| test.comparison.as_ref());
        points::is_column(name)
            || ramps::has_tables(&self.points) && ramps::is_column(name)
            || compared.is_some_and(|of| of.overall.iter().any(|overall| overall.measure == name))
            || self.close.is_some() && (load_profile::is_line(name) || timed_events::is_timed(name))
    }

    fn most(&self, point: &MeasuredPoint) -> String {
        if let (None, Some(reads)) = (point.get("ops_per_s"), point.get(READS)) {
            let latency = point.get("physical_read_latency_us");
            let latency = latency.map_or_else(String::new, |us| format!(" of {}", time_us(us)));
            return format!(
                "Highest throughput: {} physical reads/s{latency}, with {}.",
                figure(reads),
                self.place(point)
            );
        }
        let mut line = format!(
            "Highest throughput: {} operations/s, with {}",
            optional(point.capacity(OPS)),
            self.place(point)
        );
        if let Some(p99) = point.get("service_p99_us") {
            line.push_str(&format!("; p99 {}", time_us(p99)));
        }
        if let Some(spread) = point.estimates.get("ops_per_s").and_then(|estimate| estimate.spread_pct()) {
            line.push_str(&format!("; {} repeats, spread {} %", point.runs.len(), percent(spread)));
        }
        line.push('.');
        if let Some(knee) = self.curves.iter().find_map(|curve| curve.knee_of_best.as_ref()) {
            line.push_str(&format!(" The knee is at {knee}."));
        }
        line
    }

    fn single(&self, record: &RunRecord) -> String {
        if let Some(answer) = crate::content::watched::summary::answer(record) {
            return answer;
        }
        let figures = RunFigures::of(record);
        let metric_value =
            |measure: &str| dyno_analyze::points::figure(record, measure).map(|(value, _)| value);
        if let (None, Some(reads)) = (figures.get("ops_per_s"), metric_value(READS)) {
            let active = metric_value("database_active_sessions")
                .map(|sessions| format!(", {} sessions active", figure(sessions)));
            let active = active.unwrap_or_default();
            return format!("{} physical reads/s{active} over {}.", figure(reads), span_s(figures.seconds));
        }
        let first = record.workload.as_ref().and_then(|own| own.share.as_ref()).map(|share| share.sessions);
        let sessions = number::sessions(f64::from(first.unwrap_or_else(|| record.sessions())));
        let mut line = format!(
            "{} operations/s with {sessions}{}",
            optional(figures.get("ops_per_s")),
            match &record.workload {
                Some(own) => format!(" of {}", crate::text::clean(&own.name)),
                None if record.knows("workload.update_pct") => {
                    format!(" and {} % updates", record.plan.workload.update_pct)
                }
                None => String::new(),
            },
        );
        for other in &record.beside {
            let sessions = other.share.as_ref().map_or(0, |share| share.sessions);
            let sessions = number::sessions(f64::from(sessions));
            line.push_str(&format!(" beside {sessions} of {}", crate::text::clean(&other.name)));
        }
        if figures.seconds > 0.0 {
            line.push_str(&format!(" over {}", span_s(figures.seconds)));
        }
        if let Some(p99) = figures.get("service_p99_us") {
            line.push_str(&format!("; p99 {}", time_us(p99)));
        }
        line.push('.');
        line
    }

    /// Setting of a point, in words.
    pub fn place(&self, point: &MeasuredPoint) -> String {
        let words = self.points.axes.iter().zip(&point.values).rev().map(|(axis, value)| words(axis, value));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Results of the runs, one row for each point.
    pub fn grid(&self) -> Grid {
        points_grid(&self.points)
    }
}

fn curve_words(ramp: &RampCurve<'_>, best: Option<&MeasuredPoint>) -> CurveWords {
    let mut sentences = vec![match &ramp.fit {
        Ok(fit) => fit.sentence(OPS),
        Err(reason) => reason.to_string(),
    }];
    let knee = knee(&ramp.loads, &ramp.fit, None);
    // No latency limit is set here, so the third sentence would only say that.
    sentences.extend(knee.sentences(OPS).into_iter().take(2));
    let holds_best = best.is_some_and(|best| ramp.points.iter().any(|point| std::ptr::eq(*point, best)));
    let knee_of_best = knee.kneedle.ok().filter(|_| holds_best).map(|knee| knee.phrase(OPS));
    CurveWords { name: ramp.name.clone(), sentences, knee_of_best }
}
