//! Describes a fit in plain words.

use super::{ConfidenceInterval, Fit, Maximum, Peak, Scalability, ScalabilityLaw};
use crate::number::{self, figure, fixed};
use crate::points::phrase;

/// Decrease of measured throughput below which it is not mentioned, %: repeats of one run differ as
/// much.
const FALL_LEAST_PCT: f64 = 5.0;

/// A coefficient in percent with its interval: `2.77 % (95 %: 0.815 to 4.90 %)`.
fn percent(value: f64, interval: ConfidenceInterval) -> String {
    let figures = [value, interval.low, interval.high].map(|share| figure(share * 100.0));
    format!("{} % (95 %: {} to {} %)", figures[0], figures[1], figures[2])
}

impl Scalability {
    /// One of the fits in one sentence; `throughput` is the name of the fitted measure. It never
    /// names a maximum below what was measured.
    pub fn words(&self, fit: &Fit, throughput: &str) -> String {
        let at = &fit.coefficients;
        let law = fit.law.name();
        let head = format!(
            "{law}, R² {}: {} with one session",
            fixed(fit.r_squared, 3),
            phrase(throughput, at.lambda)
        );
        let contention = || format!("contention σ {}", percent(at.sigma, fit.intervals.sigma));
        let tail = match fit.law {
            ScalabilityLaw::Linear => "the same again with each more session; no limit in sight".to_owned(),
            ScalabilityLaw::Amdahl => format!("{}; {}", contention(), self.ceiling_words(fit, throughput)),
            ScalabilityLaw::Usl => {
                let coherency = format!("coherency κ {}", percent(at.kappa, fit.intervals.kappa));
                format!("{}, {coherency}; {}", contention(), self.peak_words(fit, throughput))
            }
        };
        format!("{head}, {tail}")
    }

    fn ceiling_words(&self, fit: &Fit, throughput: &str) -> String {
        match self.maximum(fit) {
            Maximum::None => "no limit in sight".to_owned(),
            Maximum::Above(ceiling) => format!("it cannot exceed {}", phrase(throughput, ceiling)),
            Maximum::Near | Maximum::Contradicted => format!("its limit is {}", self.near_words(throughput)),
        }
    }

    fn peak_words(&self, fit: &Fit, throughput: &str) -> String {
        let Some(peak) = fit.coefficients.peak() else {
            return "no peak: it never stops rising".into();
        };
        if !matches!(self.maximum(fit), Maximum::Above(_)) {
            return format!("its peak is {}", self.near_words(throughput));
        }
        let ConfidenceInterval { low, high } = fit.intervals.peak_sessions;
        let high = if high.is_finite() { fixed(high, 0) } else { "no limit".into() };
        let beyond = match peak.sessions > self.sessions_max {
            true => format!(", beyond the {} measured: an extrapolation", fixed(self.sessions_max, 0)),
            false => String::new(),
        };
        format!(
            "predicted peak at {} sessions (95 %: {} to {high}) with {}{beyond}",
            fixed(peak.sessions, 0),
            fixed(low, 0),
            phrase(throughput, peak.throughput),
        )
    }

    /// The measured maximum, where the law's own maximum is near it.
    pub(crate) fn near_words(&self, throughput: &str) -> String {
        let Peak { sessions, throughput: most } = self.measured_peak;
        format!("about the measured maximum, {} at {}", phrase(throughput, most), number::sessions(sessions))
    }

    /// The chosen fit in one sentence; `throughput` is the name of the fitted measure.
    pub fn sentence(&self, throughput: &str) -> String {
        let best = self.best();
        let miss = |why: String| {
            format!("no law fits: the nearest, {}, {why}; measure more points or repeats", best.law.name())
        };
        if !best.holds() {
            return miss(format!(
                "misses throughput by {} % (root mean square), R² {}",
                number::percent(best.misses_pct),
                fixed(best.r_squared, 3),
            ));
        }
        if self.maximum(best) == Maximum::Contradicted {
            let Peak { sessions, throughput: most } = self.measured_peak;
            return miss(format!(
                "would allow less than the {} measured at {} (R² {})",
                phrase(throughput, most),
                number::sessions(sessions),
                fixed(best.r_squared, 3),
            ));
        }
        let sentence = self.words(best, throughput);
        if best.coefficients.peak().is_some() || self.fell_pct < FALL_LEAST_PCT {
            return sentence;
        }
        format!(
            "{sentence}; but measured throughput fell by {} % from {} to {} sessions, which this law cannot \
             show: measure more points or repeats",
            number::percent(self.fell_pct),
            fixed(self.measured_peak.sessions, 0),
            fixed(self.sessions_max, 0),
        )
    }
}
