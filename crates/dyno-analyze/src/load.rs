//! A load and what came of it: what scalability fits and knees are made of.

use crate::points::Curve;

/// One point of a ramp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Sessions (or processors, or jobs).
    pub sessions: f64,
    /// Throughput at that load, per second.
    pub throughput: f64,
    /// Latency at that load, µs.
    pub latency_us: Option<f64>,
    /// Runs behind the point: what it weighs in a fit.
    pub repeats: u32,
    /// How far the runs lie apart: the sum of their squared distances from `throughput`; 0 of a single run.
    pub scatter: f64,
}

impl Load {
    /// A point measured once.
    pub fn new(sessions: f64, throughput: f64) -> Self {
        Self { sessions, throughput, latency_us: None, repeats: 1, scatter: 0.0 }
    }

    /// The same with its latency in µs.
    pub fn with_latency(self, latency_us: f64) -> Self {
        Self { latency_us: Some(latency_us), ..self }
    }
}

impl Curve<'_> {
    /// The ramp of this curve by the names of two measures (`ops_per_s`, `service_p99_us`). Points without the
    /// throughput are left out.
    pub fn loads(&self, throughput: &str, latency: &str) -> Vec<Load> {
        let load = |point: &&crate::points::Point| {
            let estimate = point.estimates.get(throughput)?;
            Some(Load {
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
