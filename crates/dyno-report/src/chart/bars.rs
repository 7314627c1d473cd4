//! Bars and sparklines from block characters.

/// A bar of `share` (0..=1) of `columns`, in steps of an eighth of a column; any value above zero shows at
/// least a sliver.
pub fn bar(share: f64, columns: usize) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut out = "█".repeat(eighths / 8);
    out.extend(
        [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')][eighths % 8],
    );
    out
}

/// A line of values from zero to their maximum, in at most `columns` characters; neighbors are averaged if
/// there are more values than columns.
pub fn sparkline(values: &[f64], columns: usize) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if values.is_empty() || columns == 0 {
        return String::new();
    }
    let per_column = values.len().div_ceil(columns);
    let finite = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
    let means: Vec<f64> = values
        .chunks(per_column)
        .map(|chunk| chunk.iter().map(|&value| finite(value)).sum::<f64>() / chunk.len() as f64)
        .collect();
    let largest = means.iter().copied().fold(0.0, f64::max);
    let step = |mean: f64| {
        let share = if largest > 0.0 { mean / largest } else { 0.0 };
        STEPS[((share * 7.0).round() as usize).min(7)]
    };
    means.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_in_eighths() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0001, 4), "▏");
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(f64::NAN, 4), "");
    }

    #[test]
    fn sparklines_fit_width_and_start_at_zero() {
        assert_eq!(sparkline(&[0.0, 5.0, 10.0], 10), "▁▅█");
        assert_eq!(sparkline(&[1.0; 1_000], 50).chars().count(), 50);
        assert_eq!(sparkline(&[0.0, 0.0], 5), "▁▁");
    }
}
