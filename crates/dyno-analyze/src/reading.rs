//! Figures as another program printed them, and pairs of them side by side.
//!
//! A figure printed with one decimal is known to half of a tenth and no better. So two figures
//! differ only where their last digits cannot explain it.

use serde::Serialize;

use crate::number::{figure, fixed};

/// A number and the place value of its last printed digit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PrintedNumber {
    /// The number, suffix and exponent applied.
    pub value: f64,
    /// The place value of the last printed digit.
    pub step: f64,
}

impl PrintedNumber {
    /// A count, which is exact to the unit.
    pub fn exact(value: f64) -> Self {
        Self { value, step: 0.0 }
    }

    /// The largest relative error: half a step, relative to the value.
    pub fn relative_error(&self) -> f64 {
        let half = self.step / 2.0;
        if half == 0.0 { 0.0 } else { half / self.value.abs().max(half) }
    }

    /// The figure in another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, step: self.step * factor }
    }

    /// The number with only the digits that are known.
    pub fn shown(&self) -> String {
        let text = figure(self.value);
        let decimals = text.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
        let known_decimals = match self.step {
            step if step >= 1.0 => 0,
            step if step > 0.0 => (-step.log10()).ceil() as usize,
            _ if self.value.fract() == 0.0 => 0,
            _ => decimals,
        };
        fixed(self.value, decimals.min(known_decimals))
    }
}

/// A figure of two reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadingChange {
    pub name: String,
    pub a: Option<PrintedNumber>,
    pub b: Option<PrintedNumber>,
}

impl ReadingChange {
    /// Whether the figures differ by more than their rounding allows.
    pub fn differs(&self) -> bool {
        let Some((a, b)) = self.a.zip(self.b) else { return false };
        // A remainder of floating-point arithmetic is no difference either.
        let noise = f64::EPSILON * 4.0 * a.value.abs().max(b.value.abs());
        (b.value - a.value).abs() > (a.step + b.step) / 2.0 + noise
    }

    /// The second figure minus the first, with the precision of both; absent where they do not
    /// differ.
    pub fn difference(&self) -> Option<PrintedNumber> {
        let (a, b) = self.a.zip(self.b).filter(|_| self.differs())?;
        Some(PrintedNumber { value: b.value - a.value, step: a.step.max(b.step) })
    }

    /// The difference from the first figure, %; absent where they do not differ, or the first is
    /// not above 0.
    pub fn percent(&self) -> Option<f64> {
        let (a, b) = self.a.zip(self.b).filter(|_| self.differs())?;
        (a.value > 0.0).then(|| 100.0 * (b.value - a.value) / a.value)
    }

    /// Size of the change; a figure on one side only changed by its whole value.
    pub fn distance(&self) -> f64 {
        let value = |side: Option<PrintedNumber>| side.map_or(0.0, |reading| reading.value);
        (value(self.b) - value(self.a)).abs()
    }

    /// The larger figure; 0 where neither is known.
    pub fn largest(&self) -> f64 {
        let value = |side: Option<PrintedNumber>| side.map_or(0.0, |reading| reading.value);
        value(self.a).max(value(self.b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(a: (f64, f64), b: (f64, f64)) -> ReadingChange {
        let reading = |(value, step)| Some(PrintedNumber { value, step });
        ReadingChange { name: String::new(), a: reading(a), b: reading(b) }
    }

    #[test]
    fn difference_within_rounding_is_no_difference() {
        assert_eq!(change((0.1, 0.1), (0.2, 0.1)).difference(), None);
        assert!(change((0.1, 0.1), (0.3, 0.1)).differs());
        let thousands = change((16_400.0, 100.0), (16_449.0, 1.0));
        assert_eq!((thousands.difference(), thousands.percent()), (None, None));
        let more = change((16_400.0, 100.0), (32_800.0, 100.0));
        assert_eq!(
            (more.difference().map(|by| by.shown()), more.percent()),
            (Some("16,400".into()), Some(100.0))
        );
    }

    #[test]
    fn percent_change_is_absent_for_zero_or_negative_base() {
        let from_zero = change((0.0, 0.1), (5.0, 0.1));
        assert_eq!((from_zero.difference().map(|by| by.value), from_zero.percent()), (Some(5.0), None));
        assert_eq!(change((-2.0, 0.1), (5.0, 0.1)).percent(), None, "a share of less than nothing");
        assert_eq!(change((3.0, 0.1), (1.0, 0.1)).distance(), 2.0);
        let one_sided = ReadingChange { a: Some(PrintedNumber::exact(1.0)), ..ReadingChange::default() };
        assert_eq!((one_sided.differs(), one_sided.difference(), one_sided.percent()), (false, None, None));
    }
}
