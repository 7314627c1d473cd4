//! Parses `/proc/pressure/*` (the kernel's Documentation/accounting/psi.rst).

use serde::{Deserialize, Serialize};

/// Time lost waiting for one resource since boot, µs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// Time in which at least one thread waited, µs.
    pub some_us: u64,
    /// Time in which every thread with work waited, µs; absent for CPUs before kernel 5.13.
    pub full_us: Option<u64>,
}

/// Parses one file of `/proc/pressure`.
pub(crate) fn parse_pressure(text: &str) -> Option<Pressure> {
    let total = |kind: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
        line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
    };
    Some(Pressure { some_us: total("some")?, full_us: total("full") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_read_with_and_without_full_line() {
        let text = "some avg10=1.00 avg60=0.50 avg300=0.10 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=789\n";
        assert_eq!(parse_pressure(text), Some(Pressure { some_us: 123_456, full_us: Some(789) }));
        let older = "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n";
        assert_eq!(parse_pressure(older), Some(Pressure { some_us: 5, full_us: None }));
        assert_eq!(parse_pressure(""), None);
    }
}
