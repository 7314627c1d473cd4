//! The three laws, each a special case of the next: linear, Amdahl's, the Universal Scalability Law.

/// A law of how throughput grows with load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScalabilityLaw {
    /// `X(N) = λN`: nothing is shared.
    Linear,
    /// `X(N) = λN ÷ (1 + σ(N−1))`: a share σ of the work is serial (Amdahl, AFIPS 1967).
    Amdahl,
    /// `X(N) = λN ÷ (1 + σ(N−1) + κN(N−1))`: in addition, all sessions must agree with each other
    /// at a cost of κ (Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31).
    Usl,
}

dyno_plan::names! {
    /// The name used in sentences.
    ScalabilityLaw { Linear = "linear scaling", Amdahl = "Amdahl's law", Usl = "the Universal Scalability Law" }
}

impl ScalabilityLaw {
    /// The number of coefficients among λ, σ, κ that the law has.
    pub fn parameters(self) -> usize {
        match self {
            Self::Linear => 1,
            Self::Amdahl => 2,
            Self::Usl => 3,
        }
    }
}

/// The coefficients of a law; those it does not have are 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// λ: throughput of one session, per second.
    pub lambda: f64,
    /// σ, contention: the serial share of the work, 0 to 1.
    pub sigma: f64,
    /// κ, coherency: the cost of agreement with one other session, as a share of the work.
    pub kappa: f64,
}

/// A point on a fitted curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Sessions; fractional values are possible.
    pub sessions: f64,
    pub throughput: f64,
}

impl Coefficients {
    /// `1 + σ(N−1) + κN(N−1)`.
    pub(super) fn denominator(&self, sessions: f64) -> f64 {
        1.0 + self.sigma * (sessions - 1.0) + self.kappa * sessions * (sessions - 1.0)
    }

    /// Throughput at `sessions`, per second.
    pub fn at(&self, sessions: f64) -> f64 {
        self.lambda * sessions / self.denominator(sessions)
    }

    /// Where throughput is highest: `N* = √((1−σ) ÷ κ)` (Gunther, eq. 4.33), not below one session. `None` if it never
    /// stops rising.
    pub fn peak(&self) -> Option<Peak> {
        if self.kappa <= 0.0 {
            return None;
        }
        let sessions = ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0);
        Some(Peak { sessions, throughput: self.at(sessions) })
    }

    /// What throughput approaches as sessions rise without end, `λ ÷ σ`; `None` where there is a
    /// peak, or no limit.
    pub fn ceiling(&self) -> Option<f64> {
        (self.kappa <= 0.0 && self.sigma > 0.0).then(|| self.lambda / self.sigma)
    }
}
