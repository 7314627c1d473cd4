//! How a row gets its figures: from each run, and from each interval inside a run.

use dyno_record::{RunRecord, SeriesPoint, Unit};

use super::batches::batch_means;
use super::row::{ComparedRow, RowUnit, WorkUnit};
use crate::attribution::is_marked;
use crate::compare::look::LookJudge;
use crate::compare::rank::mann_whitney;
use crate::compare::{
    ComparedValues, ComparisonColumn, ComparisonRules, MeasureComparison, compare_values, is_near_zero,
    is_run_scoped, overall, stratified,
};
use crate::load_profile::transactions_per_s;
use crate::points::{Better, figure, median};

type RunValue<'s> = Box<dyn Fn(&RunRecord) -> Option<f64> + 's>;
type IntervalValue<'s> = Box<dyn Fn(&SeriesPoint) -> Option<f64> + 's>;

/// A row to compare.
pub(super) struct RowSpec<'s> {
    pub(super) title: String,
    pub(super) name: String,
    pub(super) unit: RowUnit,
    /// Unit of the values of runs, which decides what is nearly zero.
    pub(super) value_unit: Unit,
    pub(super) better: Better,
    /// The metric whose attribution the figures have; empty for the run's own.
    pub(super) metric: String,
    /// Whether the figure is divided by the rate of the work.
    pub(super) is_per_work: bool,
    /// The figure is the value times this.
    pub(super) factor: f64,
    pub(super) value: RunValue<'s>,
    /// The same of an interval, up to a constant factor.
    pub(super) interval: Option<IntervalValue<'s>>,
    /// Share of the table's total, %.
    pub(super) share_pct: Option<RunValue<'s>>,
}

impl<'s> RowSpec<'s> {
    pub(super) fn new(name: &str, value_unit: Unit, value: impl Fn(&RunRecord) -> Option<f64> + 's) -> Self {
        let unit = match value_unit {
            Unit::Microseconds => RowUnit::Microseconds,
            Unit::Bytes | Unit::BytesPerSecond => RowUnit::Bytes,
            Unit::Percent => RowUnit::Percent,
            _ => RowUnit::Number,
        };
        Self {
            title: String::new(),
            name: name.to_owned(),
            unit,
            value_unit,
            better: Better::Neither,
            metric: String::new(),
            is_per_work: false,
            factor: 1.0,
            value: Box::new(value),
            interval: None,
            share_pct: None,
        }
    }

    /// A metric of the record, with its intervals.
    pub(super) fn of_metric(name: &str, metric: &'s str, value_unit: Unit) -> Self {
        Self {
            metric: metric.to_owned(),
            interval: Some(Box::new(move |point| interval_metric(point, metric))),
            ..Self::new(name, value_unit, move |record| Some(figure(record, metric)?.0))
        }
    }
}

/// A metric of an interval.
pub(super) fn interval_metric(point: &SeriesPoint, metric: &str) -> Option<f64> {
    match metric {
        "ops_per_s" => Some(point.rate_per_s()),
        "redo_bytes_per_s" | "redo_mb_per_s" => {
            let names = ["redo_bytes_per_s", "redo_mb_per_s"];
            names.iter().find_map(|name| point.metrics.get(*name)).copied()
        }
        metric => point.metrics.get(metric).copied(),
    }
}

impl WorkUnit {
    /// The rate of the work in a run; absent if it is not counted, or there was none.
    pub(super) fn rate(self, record: &RunRecord) -> Option<f64> {
        let rate = match self {
            Self::Operation => figure(record, "ops_per_s").map(|(rate, _)| rate),
            Self::Transaction => transactions_per_s(record).ok(),
        };
        rate.filter(|rate| *rate > 0.0)
    }

    fn interval_rate(self, point: &SeriesPoint) -> Option<f64> {
        let rate = match self {
            Self::Operation => Some(point.rate_per_s()),
            Self::Transaction => interval_metric(point, "commits_per_s")
                .map(|commits| commits + interval_metric(point, "rollbacks_per_s").unwrap_or(0.0)),
        };
        rate.filter(|rate| *rate > 0.0)
    }
}

/// The runs of both sides at one point.
pub(super) type PointRuns<'r> = (Vec<&'r RunRecord>, Vec<&'r RunRecord>);

/// The two sides of all rows.
pub(super) struct ComparedSides<'r> {
    pub(super) points: Vec<PointRuns<'r>>,
    pub(super) margin_pct: f64,
    /// Whether background activity differs between the sides.
    pub(super) is_confounded: bool,
    /// The look of a sequential test that judges the rows; absent where all runs are judged once.
    pub(super) look: Option<LookJudge>,
    pub(super) per: Option<WorkUnit>,
}

impl<'r> ComparedSides<'r> {
    pub(super) fn records(&self) -> impl Iterator<Item = &'r RunRecord> + '_ {
        self.points.iter().flat_map(|(a, b)| a.iter().chain(b)).copied()
    }

    /// Compares these rows; rows that neither side has are left out.
    pub(super) fn rows(&self, specs: &[RowSpec<'_>]) -> Vec<ComparedRow> {
        specs.iter().filter_map(|spec| self.row(spec)).collect()
    }

    fn row(&self, spec: &RowSpec<'_>) -> Option<ComparedRow> {
        // Figures per unit of work are compared as rates at the first side's rate of work, so that the
        // same amounts count as nearly zero.
        let scale = if spec.is_per_work { self.work_scale()? } else { 1.0 };
        let value = |record: &RunRecord| -> Option<f64> {
            let value = (spec.value)(record)?;
            let value = if spec.is_per_work { value / self.per?.rate(record)? * scale } else { value };
            value.is_finite().then_some(value)
        };
        let values = |runs: &[&RunRecord]| -> Vec<f64> {
            runs.iter().map(|record| value(record)).collect::<Option<Vec<f64>>>().unwrap_or_default()
        };
        let is_marked = |runs: &[&RunRecord]| runs.iter().any(|record| is_marked(record, &spec.metric));
        let run_scoped = is_run_scoped(&spec.metric, self.points.iter().flat_map(|(a, b)| a.iter().chain(b)));
        let compared = self.points.iter().map(|(a, b)| ComparedValues {
            measure: spec.metric.clone(),
            unit: spec.value_unit,
            better: spec.better,
            a: values(a),
            b: values(b),
            marked: (is_marked(a), is_marked(b)),
            run_scoped,
        });
        let (compared, draws) = compare_values(compared.collect(), self.margin_pct);
        let shown = spec.factor / scale;
        let [a, b] = sides_of(&compared, spec.value_unit).map(|value| value.map(|value| value * shown));
        if a.is_none() && b.is_none() {
            return None;
        }
        let rules = ComparisonRules { margin_pct: self.margin_pct, measures: Vec::new() };
        let column = ComparisonColumn {
            measure: spec.metric.clone(),
            better: spec.better,
            compared,
            draws,
            run_scoped,
        };
        let overall = overall(&column, &rules);
        let verdict = if self.is_confounded { overall.verdict.confounded() } else { overall.verdict };
        let at_look = self
            .look
            .zip(column.compared.first())
            .and_then(|(look, compared)| look.judge(compared, spec.better, run_scoped));
        let (verdict, interval_pct) = at_look.unwrap_or((verdict, overall.interval_pct));
        let near = |value: Option<f64>| value.is_none_or(|v| is_near_zero(spec.value_unit, v));
        let marked = |side: fn(&MeasureComparison) -> bool| column.compared.iter().any(side);
        Some(ComparedRow {
            title: spec.title.clone(),
            name: spec.name.clone(),
            unit: spec.unit,
            a,
            b,
            difference: a.zip(b).map(|(a, b)| b - a),
            difference_pct: overall.difference_pct.filter(|_| a.is_some() && b.is_some()),
            interval_pct,
            p: overall.p,
            p_windows: a.and(b).and_then(|_| self.p_windows(spec)),
            verdict,
            marked: (marked(|c| c.marked.0), marked(|c| c.marked.1)),
            share_pct: spec.share_pct.as_ref().map(|share_pct| self.shares(share_pct)),
            near_zero: column.compared.iter().all(|c| near(c.a) && near(c.b)),
        })
    }

    /// The first side's rate of work: the geometric mean over the points.
    fn work_scale(&self) -> Option<f64> {
        let per = self.per?;
        let rate = |(a, _): &PointRuns<'_>| {
            median(&a.iter().map(|record| per.rate(record)).collect::<Option<Vec<f64>>>()?)
        };
        geometric_mean(&self.points.iter().map(rate).collect::<Option<Vec<f64>>>()?)
    }

    /// The share on either side: the median of the runs, and its mean over the points.
    fn shares(&self, share_pct: &RunValue<'_>) -> (Option<f64>, Option<f64>) {
        let at = |runs: &[&RunRecord]| {
            median(&runs.iter().map(|record| share_pct(record)).collect::<Option<Vec<f64>>>()?)
        };
        let side = |medians: Option<Vec<f64>>| {
            let medians = medians.filter(|medians| !medians.is_empty())?;
            Some(medians.iter().sum::<f64>() / medians.len() as f64)
        };
        (
            side(self.points.iter().map(|(a, _)| at(a)).collect()),
            side(self.points.iter().map(|(_, b)| at(b)).collect()),
        )
    }

    /// The rank test of the intervals inside single runs.
    fn p_windows(&self, spec: &RowSpec<'_>) -> Option<f64> {
        let interval = spec.interval.as_ref()?;
        let means = |record: &RunRecord| -> Option<Vec<f64>> {
            let full =
                record.series.points.iter().filter(|point| point.seconds > record.series.interval_s / 2.0);
            let value = |point: &SeriesPoint| {
                let value = interval(point)?;
                if spec.is_per_work { Some(value / self.per?.interval_rate(point)?) } else { Some(value) }
            };
            batch_means(&full.map(value).collect::<Option<Vec<f64>>>()?)
        };
        let batches = |(a, b): &PointRuns<'_>| match (a.as_slice(), b.as_slice()) {
            ([a], [b]) => means(a).zip(means(b)),
            _ => None,
        };
        let batches: Vec<(Vec<f64>, Vec<f64>)> = self.points.iter().map(batches).collect::<Option<_>>()?;
        match batches.as_slice() {
            [] => None,
            [(a, b)] => mann_whitney(a, b).map(|test| test.p),
            many => stratified(many.iter().map(|(a, b)| (a.as_slice(), b.as_slice()))),
        }
    }
}

/// The value of both sides over the points that both have; where there are none, over those of each.
fn sides_of(compared: &[MeasureComparison], unit: Unit) -> [Option<f64>; 2] {
    let (a, b): (Vec<f64>, Vec<f64>) = compared.iter().filter_map(|c| c.a.zip(c.b)).unzip();
    let (a, b) = match a.is_empty() {
        true => {
            (compared.iter().filter_map(|c| c.a).collect(), compared.iter().filter_map(|c| c.b).collect())
        }
        false => (a, b),
    };
    let is_geometric = a.iter().chain(&b).all(|value| !is_near_zero(unit, *value) && *value > 0.0);
    [a, b].map(|values: Vec<f64>| match (values.as_slice(), is_geometric) {
        ([] | [_], _) => values.first().copied(),
        (many, true) => geometric_mean(many),
        (many, false) => Some(many.iter().sum::<f64>() / many.len() as f64),
    })
}

fn geometric_mean(values: &[f64]) -> Option<f64> {
    let all = values.iter().all(|value| *value > 0.0) && !values.is_empty();
    all.then(|| (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}
