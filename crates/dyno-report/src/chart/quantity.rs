//! The quantities of axes and the format of their ticks.

use dyno_analyze::number::{figure, fixed};

/// The quantity of an axis, with its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Plain numbers; their unit is shown with the label: `/s`, `MB/s`, `sessions`; may be empty.
    Plain(&'static str),
    Micros,
    Seconds,
    Percent,
}

/// The common unit for all values of one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AxisUnit {
    /// Name for the axis label: `ms`; may be empty.
    pub(crate) name: &'static str,
    /// Number of base units in one of it.
    pub(crate) size: f64,
    /// Suffix of each number of a tick: `k`.
    pub(crate) suffix: &'static str,
}

impl AxisUnit {
    const fn of(name: &'static str, size: f64, suffix: &'static str) -> Self {
        Self { name, size, suffix }
    }

    /// Text of a tick; `step` is the distance to the next tick and determines the digits.
    pub(crate) fn tick(self, value: f64, step: f64) -> String {
        let (value, step) = (value / self.size, (step / self.size).abs());
        // As many decimals as neighboring ticks need to differ: 2.5 needs one, 0.25 two.
        let exact = |decimals: &usize| {
            let scaled = step * 10f64.powi(*decimals as i32);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
        };
        let decimals = if value == 0.0 { 0 } else { (0..=6).find(exact).unwrap_or(0) };
        let text = fixed(value, decimals);
        if value == 0.0 || self.suffix.is_empty() { text } else { format!("{text}{}", self.suffix) }
    }
}

impl Quantity {
    /// The unit for an axis that ends at `max`.
    pub(crate) fn unit_for(self, max: f64) -> AxisUnit {
        match self {
            Self::Plain(name) => match max.abs() {
                m if m >= 2e9 => AxisUnit::of(name, 1e9, "G"),
                m if m >= 2e6 => AxisUnit::of(name, 1e6, "M"),
                m if m >= 1e4 => AxisUnit::of(name, 1e3, "k"),
                _ => AxisUnit::of(name, 1.0, ""),
            },
            Self::Micros => match max.abs() {
                m if m >= 2e6 => AxisUnit::of("s", 1e6, ""),
                m if m >= 2e3 => AxisUnit::of("ms", 1e3, ""),
                _ => AxisUnit::of("µs", 1.0, ""),
            },
            Self::Seconds => match max.abs() {
                m if m >= 4.0 * 3_600.0 => AxisUnit::of("h", 3_600.0, ""),
                m if m >= 300.0 => AxisUnit::of("min", 60.0, ""),
                _ => AxisUnit::of("s", 1.0, ""),
            },
            Self::Percent => AxisUnit::of("%", 1.0, ""),
        }
    }

    /// A tick of a logarithmic axis, which includes its unit: `500 µs`, `2 ms`, `20k`.
    pub(crate) fn log_tick(self, value: f64) -> String {
        match self {
            // A tenth of a microsecond below 1 µs; otherwise the unit in which the number is at least one.
            Self::Micros => match value {
                v if v >= 0.9995e6 => format!("{} s", short(v / 1e6)),
                v if v >= 0.9995e3 => format!("{} ms", short(v / 1e3)),
                v if v >= 0.9995 => format!("{} µs", short(v)),
                v => format!("{} ns", short(v * 1e3)),
            },
            Self::Plain(_) => match value {
                v if v >= 0.9995e9 => format!("{}G", short(v / 1e9)),
                v if v >= 0.9995e6 => format!("{}M", short(v / 1e6)),
                v if v >= 1e4 => format!("{}k", short(v / 1e3)),
                v => short(v),
            },
            Self::Seconds | Self::Percent => short(value),
        }
    }
}

/// A number without needless decimals: `1`, `2.5`, `0.02`.
fn short(value: f64) -> String {
    let text = figure(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_labels_have_the_digits_of_their_step() {
        assert_eq!(Quantity::Plain("/s").unit_for(60_000.0).tick(20_000.0, 20_000.0), "20k");
        assert_eq!(Quantity::Plain("/s").unit_for(12_000.0).tick(2_500.0, 2_500.0), "2.5k");
        assert_eq!(Quantity::Plain("/s").unit_for(5_000.0).tick(2_500.0, 500.0), "2,500");
        assert_eq!(Quantity::Micros.unit_for(4_000.0).tick(1_500.0, 500.0), "1.5");
        assert_eq!(Quantity::Plain("").unit_for(0.02).tick(0.005, 0.005), "0.005");
        assert_eq!(Quantity::Micros.unit_for(4_000.0).tick(0.0, 500.0), "0");
    }

    #[test]
    fn logarithmic_ticks_show_their_unit() {
        let texts = [0.5, 1.0, 500.0, 1_000.0, 2_500.0, 1e6].map(|us| Quantity::Micros.log_tick(us));
        assert_eq!(texts, ["500 ns", "1 µs", "500 µs", "1 ms", "2.5 ms", "1 s"]);
        assert_eq!(Quantity::Plain("/s").log_tick(20_000.0), "20k");
        assert_eq!(Quantity::Plain("/s").log_tick(64.0), "64");
    }
}
