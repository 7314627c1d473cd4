//! Reduces long series to as many points as a picture can show.

use super::model::ChartPoint;

/// About `points_max` points at most that keep every spike: the minimum and maximum of each stretch, in their
/// original order.
pub fn spread_kept(points: &[ChartPoint], points_max: usize) -> Vec<ChartPoint> {
    if points.len() <= points_max.max(2) {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil((points_max / 2).max(1));
    let mut extremes = Vec::with_capacity(points_max + 2);
    for chunk in points.chunks(stretch) {
        let by_y = |a: &&ChartPoint, b: &&ChartPoint| a.y.total_cmp(&b.y);
        let (Some(least), Some(most)) = (chunk.iter().min_by(by_y), chunk.iter().max_by(by_y)) else {
            continue;
        };
        let (first, second) = if least.x <= most.x { (least, most) } else { (most, least) };
        extremes.push(first.clone());
        if first.x != second.x {
            extremes.push(second.clone());
        }
    }
    extremes
}

/// At most `points_max` points, each the mean of a stretch: for stacks, whose layers need the same positions.
pub fn mean_of_chunks(points: &[ChartPoint], points_max: usize) -> Vec<ChartPoint> {
    if points.len() <= points_max.max(1) {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(points_max.max(1));
    let mean = |chunk: &[ChartPoint]| {
        let count = chunk.len() as f64;
        let at = chunk[chunk.len() / 2].x;
        ChartPoint::at(at, chunk.iter().map(|p| p.y).sum::<f64>() / count)
    };
    points.chunks(stretch).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downsampling_keeps_spikes() {
        let mut points: Vec<ChartPoint> = (0..10_000).map(|i| ChartPoint::at(f64::from(i), 5.0)).collect();
        points[7_777].y = 900.0;
        points[1_234].y = 0.0;
        let sampled = spread_kept(&points, 300);
        assert!(sampled.len() <= 302, "{}", sampled.len());
        assert!(sampled.iter().any(|p| p.y == 900.0));
        assert!(sampled.iter().any(|p| p.y == 0.0));
        assert!(sampled.windows(2).all(|w| w[0].x < w[1].x));
        assert_eq!(mean_of_chunks(&points, 100).len(), 100);
    }
}
