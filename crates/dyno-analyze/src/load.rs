//! A load and its results: the input of scalability fits and knees.

use crate::points::MeasuredCurve;

/// One point of a ramp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Sessions (or processors, or jobs).
    pub sessions: f64,
    /// Throughput at that load, per second.
    pub throughput: f64,
    /// Latency at that load, µs.
    pub latency_us: Option<f64>,
    /// Runs behind the point: its weight in a fit.
    pub repeats: u32,
    /// Spread of the runs: the sum of their squared distances from `throughput`; 0 for a single
    /// run.
    pub scatter: f64,
}

impl LoadPoint {
    /// A point that was measured once.
    pub fn new(sessions: f64, throughput: f64) -> Self {
        Self { sessions, throughput, latency_us: None, repeats: 1, scatter: 0.0 }
    }

    /// The same with its latency in µs.
    pub fn with_latency(self, latency_us: f64) -> Self {
        Self { latency_us: Some(latency_us), ..self }
    }
}

impl MeasuredCurve<'_> {
    /// This curve as a ramp of two measures by name (`ops_per_s`, `service_p99_us`). Points without
    /// the throughput are left out.
    pub fn loads(&self, throughput: &str, latency: &str) -> Vec<LoadPoint> {
        let load = |point: &&crate::points::MeasuredPoint| {
            let estimate = point.estimates.get(throughput)?;
            Some(LoadPoint {
                sessions: f64::from(point.sessions),
                throughput: estimate.value,
                latency_us: point.get(latency),
                repeats: u32::try_from(estimate.n()).unwrap_or(u32::MAX),
                scatter: estimate.runs.iter().map(|run| (run - estimate.value).powi(2)).sum(),
            })
        };
        self.points.iter().filter_map(load).collect()
    }
}
