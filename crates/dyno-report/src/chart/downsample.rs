//! Long series in as many points as a picture can show.

use super::model::Point;

/// At most about `points_max` points that keep every spike: of each stretch its least and its largest value, in their
/// order.
pub fn spread_kept(points: &[Point], points_max: usize) -> Vec<Point> {
    if points.len() <= points_max.max(2) {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil((points_max / 2).max(1));
    let mut kept = Vec::with_capacity(points_max + 2);
    for chunk in points.chunks(stretch) {
        let by_y = |a: &&Point, b: &&Point| a.y.total_cmp(&b.y);
        let (Some(least), Some(most)) = (chunk.iter().min_by(by_y), chunk.iter().max_by(by_y)) else {
            continue;
        };
        let (first, second) = if least.x <= most.x { (least, most) } else { (most, least) };
        kept.push(first.clone());
        if first.x != second.x {
            kept.push(second.clone());
        }
    }
    kept
}

/// At most `points_max` points, each the mean of a stretch: for stacks, whose parts must add up at the same places.
pub fn mean_of_chunks(points: &[Point], points_max: usize) -> Vec<Point> {
    if points.len() <= points_max.max(1) {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(points_max.max(1));
    let mean = |chunk: &[Point]| {
        let count = chunk.len() as f64;
        let at = chunk[chunk.len() / 2].x;
        Point::at(at, chunk.iter().map(|p| p.y).sum::<f64>() / count)
    };
    points.chunks(stretch).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spikes_survive() {
        let mut points: Vec<Point> = (0..10_000).map(|i| Point::at(f64::from(i), 5.0)).collect();
        points[7_777].y = 900.0;
        points[1_234].y = 0.0;
        let kept = spread_kept(&points, 300);
        assert!(kept.len() <= 302, "{}", kept.len());
        assert!(kept.iter().any(|p| p.y == 900.0) && kept.iter().any(|p| p.y == 0.0));
        assert!(kept.windows(2).all(|w| w[0].x < w[1].x));
        assert_eq!(mean_of_chunks(&points, 100).len(), 100);
    }
}
