//! What a platform's performance costs: its price a month, shared out over what it can do at the knee.

mod priced;

use serde::Deserialize;

pub use priced::{Cost, Costs, MEASURES, Priced, costs};

/// Hours of a mean month: 365.25 days ÷ 12.
const HOURS_A_MONTH: f64 = 730.5;

/// The file of prices.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The currency, as it is shown: `EUR`.
    pub currency: String,
    /// Months for which what was bought is used.
    pub months: f64,
    /// The platforms; the others are held against the first.
    pub platform: Vec<Price>,
}

/// What a platform costs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    /// What it is called.
    pub name: String,
    /// Its suites: a suite's name, `last`, `variant:NAME`, or a platform out of a document; empty where the name says it.
    pub suite: String,
    /// What was bought, once.
    pub purchase: f64,
    /// Rent, space, support, people: each month.
    pub per_month: f64,
    /// Processors that are licensed.
    pub cores: f64,
    /// The licence of a processor, once.
    pub licence_per_core: f64,
    /// The licence or support of a processor, each month.
    pub licence_per_core_per_month: f64,
    /// Power it draws, W, on average.
    pub watts: f64,
    /// What a kilowatt-hour costs, cooling included.
    pub kwh: f64,
}

impl Prices {
    /// What is wrong in them: nothing, or the key with what would be right.
    pub fn fault(&self) -> Option<String> {
        if !(self.months.is_finite() && self.months > 0.0) {
            return Some(format!("months = {}: write a number above 0, as 48", self.months));
        }
        if self.platform.is_empty() {
            return Some("no platform has a price: write [[platform]] with a name and its price".to_owned());
        }
        let twice = |at: usize| self.platform[..at].iter().any(|other| other.name == self.platform[at].name);
        self.platform.iter().enumerate().find_map(|(at, price)| match price.name.as_str() {
            "" => Some(format!("platform {}: name: write what it is called", at + 1)),
            name if twice(at) => Some(format!("platform {}: name: {name} is called so already", at + 1)),
            name => Some(format!("platform {name}: {}", price.fault()?)),
        })
    }
}

impl Prices {
    /// The price of the platform that is called one of `names`: of a variant by its own name too, which a price may have as
    /// `variant:NAME`.
    pub fn of(&self, names: &[&str]) -> Option<&Price> {
        let is_of = |price: &&Price| {
            names.iter().filter(|name| !name.is_empty()).any(|name| {
                price.name == *name
                    || price.suite == *name
                    || price.suite.strip_prefix("variant:") == Some(*name)
            })
        };
        self.platform.iter().find(is_of)
    }
}

impl Price {
    fn fault(&self) -> Option<String> {
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
            return Some(format!("{key} = {value}: write an amount of 0 or more"));
        }
        let licence = self.licence_per_core + self.licence_per_core_per_month;
        if licence > 0.0 && self.cores == 0.0 {
            return Some("licence_per_core has no cores to be multiplied with: write cores = 16".to_owned());
        }
        if (self.watts > 0.0) != (self.kwh > 0.0) {
            return Some("watts: energy needs both watts and kwh".to_owned());
        }
        (self.a_month(1.0) == 0.0)
            .then(|| "purchase: the platform costs nothing: write purchase or per_month".to_owned())
    }

    /// Its parts each month, where what was bought is used for so many months.
    pub fn parts(&self, months: f64) -> [(&'static str, f64); 4] {
        let licence = self.licence_per_core / months + self.licence_per_core_per_month;
        [
            ("purchase", self.purchase / months),
            ("per month", self.per_month),
            ("licences", self.cores * licence),
            ("energy", self.watts / 1000.0 * HOURS_A_MONTH * self.kwh),
        ]
    }

    /// All of it each month.
    pub fn a_month(&self, months: f64) -> f64 {
        self.parts(months).iter().map(|(_, amount)| amount).sum()
    }
}

#[cfg(test)]
mod tests;
