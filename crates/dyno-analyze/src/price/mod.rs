//! Computes what a platform's performance costs: its monthly price divided by its capacity at the
//! knee.

mod next;
mod unit_price;

use serde::Deserialize;

pub use next::next_steps;
pub use unit_price::{Cost, Costs, MEASURES, PricedPlatform, costs};

/// Hours of a mean month: 365.25 days ÷ 12.
const HOURS_A_MONTH: f64 = 730.5;

/// The contents of a price file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The currency as shown: `EUR`.
    pub currency: String,
    /// Months over which a purchase is written off.
    pub months: f64,
    /// The platforms; the others are compared with the first.
    pub platform: Vec<PlatformPrice>,
}

/// The prices of one platform.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlatformPrice {
    pub name: String,
    /// Its suites: a suite's name, `last`, `variant:NAME`, or a platform from a document; empty
    /// where the name says it.
    pub suite: String,
    /// Purchase price, paid once; 0 without one.
    pub purchase: f64,
    /// Rent, space, support and staff, per month.
    pub per_month: f64,
    /// Number of processors that need a license.
    pub cores: f64,
    /// License of one processor, paid once.
    pub licence_per_core: f64,
    /// License or support of one processor, per month.
    pub licence_per_core_per_month: f64,
    /// Power consumption on average, in watts.
    pub watts: f64,
    /// Price of a kilowatt-hour, cooling included.
    pub kwh: f64,
}

/// An invalid entry of a price file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceFault {
    /// The platform, from 0; `None` for the file as a whole.
    pub platform: Option<usize>,
    /// The key in the platform, or in the file.
    pub key: &'static str,
    /// The platform and the key, with what is allowed.
    pub problem: String,
}

impl Prices {
    /// The first invalid entry; `None` if all are valid.
    pub fn fault(&self) -> Option<PriceFault> {
        let whole = |key, problem| Some(PriceFault { platform: None, key, problem });
        if !(self.months.is_finite() && self.months > 0.0) {
            return whole("months", format!("months = {}: write a number above 0, as 48", self.months));
        }
        if self.platform.is_empty() {
            let problem = "no platform has a price: write [[platform]] with a name and its price";
            return whole("platform", problem.to_owned());
        }
        let twice = |at: usize| self.platform[..at].iter().any(|other| other.name == self.platform[at].name);
        self.platform.iter().enumerate().find_map(|(at, price)| {
            let (key, problem) = match price.name.as_str() {
                "" => ("name", format!("platform {}: name: write its name", at + 1)),
                name if twice(at) => {
                    ("name", format!("platform {}: name: another platform has the name {name}", at + 1))
                }
                name => {
                    let (key, problem) = price.fault()?;
                    (key, format!("platform {name}: {problem}"))
                }
            };
            Some(PriceFault { platform: Some(at), key, problem })
        })
    }
}

impl Prices {
    /// The price of the platform that has one of `names`. A variant also matches by its own name,
    /// which a price may have as `variant:NAME`.
    pub fn of(&self, names: &[&str]) -> Option<&PlatformPrice> {
        let is_of = |price: &&PlatformPrice| {
            names.iter().filter(|name| !name.is_empty()).any(|name| {
                price.name == *name
                    || price.suite == *name
                    || price.suite.strip_prefix("variant:") == Some(*name)
            })
        };
        self.platform.iter().find(is_of)
    }
}

impl PlatformPrice {
    fn fault(&self) -> Option<(&'static str, String)> {
        let all = [
            ("purchase", self.purchase),
            ("per_month", self.per_month),
            ("cores", self.cores),
            ("licence_per_core", self.licence_per_core),
            ("licence_per_core_per_month", self.licence_per_core_per_month),
            ("watts", self.watts),
            ("kwh", self.kwh),
        ];
        let wrong = all.iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0));
        if let Some((key, value)) = wrong {
            return Some((key, format!("{key} = {value}: write an amount of 0 or more")));
        }
        let licence = self.licence_per_core + self.licence_per_core_per_month;
        let (key, problem) = if licence > 0.0 && self.cores == 0.0 {
            ("licence_per_core", "licence_per_core needs the number of cores: write cores = 16")
        } else if (self.watts > 0.0) != (self.kwh > 0.0) {
            ("watts", "watts: energy needs both watts and kwh")
        } else if self.monthly_cost(1.0) == 0.0 {
            ("purchase", "purchase: the platform costs nothing: write purchase or per_month")
        } else {
            return None;
        };
        Some((key, problem.to_owned()))
    }

    /// The parts of the monthly price, with purchases written off over this many months.
    pub fn parts(&self, months: f64) -> [(&'static str, f64); 4] {
        let licence = self.licence_per_core / months + self.licence_per_core_per_month;
        [
            ("purchase", self.purchase / months),
            ("per month", self.per_month),
            ("licences", self.cores * licence),
            ("energy", self.watts / 1000.0 * HOURS_A_MONTH * self.kwh),
        ]
    }

    /// The monthly price: the sum of its parts.
    pub fn monthly_cost(&self, months: f64) -> f64 {
        self.parts(months).iter().map(|(_, amount)| amount).sum()
    }
}

#[cfg(test)]
mod tests;
