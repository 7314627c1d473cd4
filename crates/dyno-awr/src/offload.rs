//! Computes what Exadata's storage servers could filter for smart scans, and how much of it they
//! sent to the database.
//!
//! Text truncates the names of these statistics to those of others, so figures come from complete
//! names only.

use crate::number::PrintedNumber;
use crate::report::{AwrFigure, AwrReport, AwrSource};

/// The size of a report's MB, in bytes.
const MIB: f64 = 1_048_576.0;

const ELIGIBLE: &str = "cell physical IO bytes eligible for predicate offload";
const RETURNED: &str = "cell physical IO interconnect bytes returned by smart scan";

/// The figures of smart scans by name; absent where the report has none.
pub(crate) fn offload(report: &AwrReport, elapsed_s: Option<f64>) -> [(&'static str, Option<AwrFigure>); 3] {
    let counted = |name: &str| {
        let figure = report.figures.get(&format!("instance_activity.{name}"))?;
        (figure.reading.value > 0.0).then_some(figure)
    };
    let figure = |from: &AwrFigure, caption: &str, reading: PrintedNumber| {
        let caption = caption.into();
        AwrFigure { reading, source: AwrSource { caption, ..from.source.clone() } }
    };
    let (eligible, returned) = (counted(ELIGIBLE), counted(RETURNED));
    let rate = |of: Option<&AwrFigure>, caption: &str| {
        let seconds = elapsed_s.filter(|seconds| *seconds > 0.0)?;
        Some(figure(of?, caption, of?.reading.times(1.0 / seconds / MIB)))
    };
    let saved = eligible.zip(returned).map(|(eligible, returned)| {
        let share = returned.reading.value / eligible.reading.value;
        let step = share * (eligible.reading.relative_error() + returned.reading.relative_error()) * 2.0;
        let reading = PrintedNumber { value: 100.0 * (1.0 - share), step: 100.0 * step };
        figure(eligible, "bytes eligible and not returned", reading)
    });
    [
        ("offload_eligible_mib_per_s", rate(eligible, ELIGIBLE)),
        ("offload_returned_mib_per_s", rate(returned, RETURNED)),
        ("offload_saved_pct", saved),
    ]
}
