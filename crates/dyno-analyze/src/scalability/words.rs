//! A fit in plain words.

use super::{Fit, Interval, Law, Scalability};
use crate::number::{self, figure, fixed};
use crate::points::phrase;

/// Falls of measured throughput below this are not worth a word, %: repeats of one run differ as much.
const FALL_LEAST_PCT: f64 = 5.0;

/// A coefficient in percent with its interval: `2.77 % (95 %: 0.815 to 4.90 %)`.
fn percent(value: f64, interval: Interval) -> String {
    let figures = [value, interval.low, interval.high].map(|share| figure(share * 100.0));
    format!("{} % (95 %: {} to {} %)", figures[0], figures[1], figures[2])
}

impl Fit {
    /// The fit in one sentence; `throughput` is the name of the measure that was fitted, `sessions_max` the highest
    /// load measured.
    pub fn sentence(&self, throughput: &str, sessions_max: f64) -> String {
        let at = &self.coefficients;
        let law = self.law.name();
        let head = format!(
            "{law}, R² {}: {} with one session",
            fixed(self.r_squared, 3),
            phrase(throughput, at.lambda)
        );
        let contention = || format!("contention σ {}", percent(at.sigma, self.intervals.sigma));
        let tail = match self.law {
            Law::Linear => "as much again with each more; no limit in sight".to_owned(),
            Law::Amdahl => match at.ceiling() {
                Some(ceiling) => format!("{}; it cannot pass {}", contention(), phrase(throughput, ceiling)),
                None => format!("{}; no limit in sight", contention()),
            },
            Law::Usl => {
                let coherency = format!("coherency κ {}", percent(at.kappa, self.intervals.kappa));
                format!("{}, {coherency}; {}", contention(), self.peak_words(throughput, sessions_max))
            }
        };
        format!("{head}, {tail}")
    }

    fn peak_words(&self, throughput: &str, sessions_max: f64) -> String {
        let Some(peak) = self.coefficients.peak() else {
            return "no peak: it never stops rising".into();
        };
        let Interval { low, high } = self.intervals.peak_sessions;
        let high = if high.is_finite() { fixed(high, 0) } else { "no limit".into() };
        let beyond = match peak.sessions > sessions_max {
            true => format!(", beyond the {} measured: a guess", fixed(sessions_max, 0)),
            false => String::new(),
        };
        format!(
            "predicted peak at {} sessions (95 %: {} to {high}) with {}{beyond}",
            fixed(peak.sessions, 0),
            fixed(low, 0),
            phrase(throughput, peak.throughput),
        )
    }
}

impl Scalability {
    /// The chosen fit in one sentence; `throughput` is the name of the measure that was fitted.
    pub fn sentence(&self, throughput: &str) -> String {
        let best = self.best();
        if !best.holds() {
            return format!(
                "no law fits: the nearest, {}, misses throughput by {} % (root mean square), R² {}; more points or repeats \
                 would tell",
                best.law.name(),
                number::percent(best.misses_pct),
                fixed(best.r_squared, 3),
            );
        }
        let sentence = best.sentence(throughput, self.sessions_max);
        if self.best().coefficients.peak().is_some() || self.fell_pct < FALL_LEAST_PCT {
            return sentence;
        }
        format!(
            "{sentence}; but measured throughput fell by {} % from {} to {} sessions, which this law cannot show: more \
             points or repeats would tell",
            number::percent(self.fell_pct),
            fixed(self.measured_peak.sessions, 0),
            fixed(self.sessions_max, 0),
        )
    }
}
