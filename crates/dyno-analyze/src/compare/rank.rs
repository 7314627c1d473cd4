//! The Mann–Whitney U test: whether one side's runs rank above the other's more than chance explains.
//!
//! Few runs are the rule, so the distribution is exact: every way to split the pooled ranks is counted, ties included
//! (Mann and Whitney 1947; with ties, the permutation distribution of midranks, Lehmann: Nonparametrics, 1.4). Many runs
//! use the normal approximation with correction for ties and continuity.

/// Most runs of both sides together that are counted exactly.
const EXACT_RUNS_MAX: usize = 40;

/// The result of the rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// Pairs in which the first side's run is the larger one; a tie counts one half.
    pub u: f64,
    /// Two-sided probability of ranks at least as far apart when both sides are the same.
    pub p: f64,
    /// Whether `p` was counted exactly rather than approximated.
    pub exact: bool,
}

/// Pooled midranks of both sides, doubled so that ties stay whole numbers, and the sizes of groups of ties.
struct Ranks {
    doubled: Vec<usize>,
    first: usize,
    ties: Vec<usize>,
}

impl Ranks {
    fn of(a: &[f64], b: &[f64]) -> Self {
        let mut pooled: Vec<(f64, bool)> =
            a.iter().map(|&v| (v, true)).chain(b.iter().map(|&v| (v, false))).collect();
        pooled.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut ranks = Self { doubled: Vec::with_capacity(pooled.len()), first: 0, ties: Vec::new() };
        let mut begin = 0;
        while begin < pooled.len() {
            let equal = pooled[begin..].iter().take_while(|entry| entry.0 == pooled[begin].0).count().max(1);
            // Ranks begin + 1 ..= begin + equal, twice their mean.
            let doubled = 2 * begin + equal + 1;
            let of_first = pooled[begin..begin + equal].iter().filter(|entry| entry.1).count();
            ranks.first += doubled * of_first;
            ranks.doubled.extend(std::iter::repeat_n(doubled, equal));
            ranks.ties.push(equal);
            begin += equal;
        }
        ranks
    }
}

/// Tests whether `a` and `b` rank alike. Absent where a side is empty or a value is not finite.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|v| !v.is_finite()) {
        return None;
    }
    let ranks = Ranks::of(a, b);
    let u = ranks.first as f64 / 2.0 - (a.len() * (a.len() + 1)) as f64 / 2.0;
    let exact = a.len() + b.len() <= EXACT_RUNS_MAX;
    let p = if exact { exact_p(&ranks, a.len()) } else { normal_p(&ranks, u, a.len(), b.len()) };
    Some(RankTest { u, p: p.min(1.0), exact })
}

/// Twice the smaller tail of the sum of `size` of the ranks.
fn exact_p(ranks: &Ranks, size: usize) -> f64 {
    let mut largest: Vec<usize> = ranks.doubled.clone();
    largest.sort_unstable_by(|x, y| y.cmp(x));
    let sum_max: usize = largest.iter().take(size).sum();
    // ways[k][s]: how many sets of k ranks have the doubled sum s; C(40, 20) is far below 2⁵³, so f64 counts exactly.
    let mut ways = vec![vec![0.0f64; sum_max + 1]; size + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.doubled.iter().enumerate() {
        for k in (1..=size.min(seen + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(k);
            for sum in rank..=sum_max {
                larger[0][sum] += smaller[k - 1][sum - rank];
            }
        }
    }
    let total: f64 = ways[size].iter().sum();
    let below: f64 = ways[size][..=ranks.first].iter().sum();
    let above: f64 = ways[size][ranks.first..].iter().sum();
    2.0 * below.min(above) / total
}

/// The smallest two-sided p that ranks of so many runs can have: all runs of one side above all of
/// the other, which is one of the possible divisions in each direction.
pub fn least_p(runs_a: usize, runs_b: usize) -> f64 {
    let ways = (1..=runs_a).fold(1.0, |ways, i| ways * (runs_b + i) as f64 / i as f64);
    (2.0 / ways).min(1.0)
}

/// The fewest pairs whose ranks can reach this p.
pub fn fewest_pairs(significance: f64) -> usize {
    (1..).find(|&pairs| least_p(pairs, pairs) <= significance).unwrap_or(usize::MAX)
}

fn normal_p(ranks: &Ranks, u: f64, a: usize, b: usize) -> f64 {
    let (a, b) = (a as f64, b as f64);
    let n = a + b;
    let ties: f64 = ranks.ties.iter().map(|&t| (t as f64).powi(3) - t as f64).sum();
    let variance = a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - a * b / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    two_sided(z)
}

/// Probability that a standard normal variable is at least `z` away from 0.
pub fn two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The complementary error function of `x` ≥ 0: the power series (Abramowitz and Stegun 7.1.5) for small `x`, the continued
/// fraction 7.1.14 for large.
fn erfc(x: f64) -> f64 {
    let root_pi = std::f64::consts::PI.sqrt();
    if x < 2.5 {
        let (mut term, mut sum) = (x, x);
        for n in 1..100 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 1.0 - 2.0 / root_pi * sum;
    }
    let fraction = (1..=60).rev().fold(0.0, |below, n| f64::from(n) / 2.0 / (x + below));
    (-x * x).exp() / root_pi / (x + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(a: &[f64], b: &[f64]) -> f64 {
        mann_whitney(a, b).unwrap().p
    }

    /// As `scipy.stats.mannwhitneyu(a, b, method="exact")` of SciPy 1.16.3 prints it.
    #[test]
    fn exact_mann_whitney_matches_scipy() {
        let test = mann_whitney(&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0]).unwrap();
        assert_eq!((test.u, test.exact), (17.0, true));
        assert!((test.p - 0.111_111_111_111_111_1).abs() < 1e-15);
        assert!((least_p(3, 3) - 0.1).abs() < 1e-15);
        assert!(least_p(1, 1) == 1.0);
        assert_eq!((fewest_pairs(0.05), fewest_pairs(0.01)), (4, 5));
        assert!((p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.1).abs() < 1e-15);
        assert!((p(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]) - 0.028_571_428_571_428_57).abs() < 1e-15);
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((p(&low, &high) - 0.007_936_507_936_507_936).abs() < 1e-15);
        assert_eq!(p(&[1.1, 2.2, 3.3, 4.4, 5.5], &[1.0, 2.0, 3.0, 6.0, 7.0]), 1.0);
        let far = p(&[3.5, 5.5, 8.5, 9.5, 12.5, 14.5], &[1.0, 2.0, 4.0, 6.0, 7.0, 10.0, 11.0]);
        assert!((far - 0.294_871_794_871_794_9).abs() < 1e-12, "{far}");
    }

    /// As given by SciPy's `PermutationMethod(n_resamples=inf)`, which counts every split.
    #[test]
    fn exact_mann_whitney_handles_ties() {
        let test = mann_whitney(&[1.0, 2.0, 2.0, 3.0], &[2.0, 3.0, 4.0, 4.0, 5.0]).unwrap();
        assert_eq!(test.u, 2.5);
        assert!((test.p - 0.111_111_111_111_111_1).abs() < 1e-12, "{}", test.p);
        assert_eq!(p(&[7.0; 5], &[7.0; 5]), 1.0);
    }

    /// Critical values of U at 5 %, two-sided (Siegel and Castellan: Nonparametric Statistics, table; Mann and Whitney).
    #[test]
    fn mann_whitney_matches_published_critical_values() {
        // (n, m, largest U that is significant at 5 %)
        for (n, m, critical) in
            [(4, 4, 0), (5, 5, 2), (6, 6, 5), (7, 7, 8), (8, 8, 13), (10, 10, 23), (5, 10, 8)]
        {
            let p_of = |u: usize| {
                // The second side's values stand at odd places; the first side's lowest one moves up by u pairs.
                let b: Vec<f64> = (0..m).map(|i| f64::from(2 * i + 1)).collect();
                let mut left = u;
                let a: Vec<f64> = (0..n)
                    .map(|i| {
                        let over = left.min(m as usize);
                        left -= over;
                        2.0 * over as f64 - 0.001 * f64::from(i + 1)
                    })
                    .collect();
                let test = mann_whitney(&a, &b).unwrap();
                assert_eq!(test.u, u as f64);
                test.p
            };
            assert!(p_of(critical) <= 0.05, "n {n} m {m}");
            assert!(p_of(critical + 1) > 0.05, "n {n} m {m}");
        }
    }

    /// As `method="asymptotic"`, ties and continuity corrected.
    #[test]
    fn mann_whitney_of_many_runs_matches_scipy() {
        let a: Vec<f64> =
            [1, 2, 2, 3, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9, 10, 11, 11, 12, 13, 14, 15].map(f64::from).to_vec();
        let b: Vec<f64> = [3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 14, 15, 15, 16, 17, 18, 19, 20, 21]
            .map(f64::from)
            .to_vec();
        let test = mann_whitney(&a, &b).unwrap();
        assert_eq!((test.u, test.exact), (133.0, false));
        assert!((test.p - 0.010_749_520_591_768_593).abs() < 1e-12, "{}", test.p);
    }

    #[test]
    fn normal_tail_is_accurate_on_both_branches() {
        for (z, p) in
            [(1.959_963_984_540_054, 0.05), (3.290_526_731_491_926, 0.001), (4.891_638_475_698_966, 1e-6)]
        {
            assert!((two_sided(z) / p - 1.0).abs() < 1e-9, "{z}");
        }
    }

    #[test]
    fn samples_that_cannot_be_ranked_have_no_test_result() {
        assert!(mann_whitney(&[], &[1.0]).is_none());
        assert!(mann_whitney(&[f64::NAN], &[1.0]).is_none());
    }
}
