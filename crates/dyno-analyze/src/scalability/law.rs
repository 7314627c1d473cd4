//! The three laws, each a special case of the next: linear, Amdahl's, the Universal Scalability Law.

/// A law of how throughput grows with load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// `X(N) = λN`: nothing is shared.
    Linear,
    /// `X(N) = λN ÷ (1 + σ(N−1))`: a share σ of the work is done by one at a time (Amdahl, AFIPS 1967).
    Amdahl,
    /// `X(N) = λN ÷ (1 + σ(N−1) + κN(N−1))`: and everyone has to agree with everyone else at a cost of κ
    /// (Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31).
    Usl,
}

dyno_plan::names! {
    /// The name in sentences.
    Law { Linear = "linear scaling", Amdahl = "Amdahl's law", Usl = "the Universal Scalability Law" }
}

impl Law {
    /// How many of λ, σ, κ the law has.
    pub fn parameters(self) -> usize {
        match self {
            Self::Linear => 1,
            Self::Amdahl => 2,
            Self::Usl => 3,
        }
    }
}

/// The coefficients of a law; what it does not have is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// λ: throughput of one session, per second.
    pub lambda: f64,
    /// σ, contention: the share of the work that is done by one at a time, 0 to 1.
    pub sigma: f64,
    /// κ, coherency: the cost of agreeing with one other session, as a share of the work.
    pub kappa: f64,
}

/// A place on a fitted curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Sessions; the law knows no whole numbers.
    pub sessions: f64,
    /// Throughput there, per second.
    pub throughput: f64,
}

impl Coefficients {
    /// `1 + σ(N−1) + κN(N−1)`.
    pub(super) fn denominator(&self, sessions: f64) -> f64 {
        1.0 + self.sigma * (sessions - 1.0) + self.kappa * sessions * (sessions - 1.0)
    }

    /// Throughput at `sessions`.
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

    /// What throughput comes near and never reaches as sessions rise without end, `λ ÷ σ`; `None` where there is a peak,
    /// or no limit.
    pub fn ceiling(&self) -> Option<f64> {
        (self.kappa <= 0.0 && self.sigma > 0.0).then(|| self.lambda / self.sigma)
    }
}
