//! Tests that values have the described ranges and distributions and depend only on the seed.

use std::collections::HashMap;
use std::sync::Arc;

use dyno_engine::{RequestCompletion, SessionRequest, Value};
use proptest::prelude::*;

use super::{shop, workload};
use crate::custom::{CustomActor, CustomWorkload};

#[derive(Debug, Clone, PartialEq)]
enum Bound {
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

fn bound(value: &Value<'_>) -> Bound {
    match *value {
        Value::Int(number) => Bound::Int(number),
        Value::Real(number) => Bound::Real(number),
        Value::Text(bytes) => Bound::Text(String::from_utf8(bytes.to_vec()).expect("UTF-8")),
        Value::Bytes(bytes) => Bound::Bytes(bytes.to_vec()),
        Value::Null => panic!("nothing was drawn"),
    }
}

/// The values that sessions bind in `count` transactions.
fn values(
    workload: &Arc<CustomWorkload>,
    engine: &str,
    (seed, session): (u64, u32),
    count: usize,
) -> Vec<Vec<Bound>> {
    let mut actor =
        CustomActor::new(workload, engine, seed, session).unwrap_or_else(|fault| panic!("{fault}"));
    let mut all = Vec::new();
    for _ in 0..count {
        actor.draw();
        let mut last = None;
        while let Some(step) = actor.step(last) {
            actor.request(step, |request| {
                if let SessionRequest::Execute(_, values) = request {
                    all.push(values.iter().map(bound).collect());
                }
            });
            last = Some(RequestCompletion { rows: 9, commit_began_ns: None });
        }
    }
    all
}

/// The values that the generator `draw` gives in `count` transactions.
fn drawn(draw: &str, seed: u64, count: usize) -> Vec<Bound> {
    let custom_workload = workload(&format!("x = {draw}"), "sql = \"SELECT :x\"");
    values(&custom_workload, "any", (seed, 3), count).into_iter().flatten().collect()
}

fn whole(draw: &str, seed: u64, count: usize) -> Vec<i64> {
    let number = |bound| match bound {
        Bound::Int(number) => number,
        other => panic!("{other:?} is no whole number"),
    };
    drawn(draw, seed, count).into_iter().map(number).collect()
}

fn texts(draw: &str, seed: u64, count: usize) -> Vec<String> {
    let text = |bound| match bound {
        Bound::Text(text) => text,
        other => panic!("{other:?} is no text"),
    };
    drawn(draw, seed, count).into_iter().map(text).collect()
}

/// Checks that `counts` match these weights: Pearson's chi-square within the 99.9th percentile, by Wilson and
/// Hilferty. Seeds are fixed, so it cannot fail by chance.
fn fits(counts: &[u32], weights: &[f64]) {
    let (draws, whole) = (counts.iter().sum::<u32>(), weights.iter().sum::<f64>());
    let sum: f64 = counts
        .iter()
        .zip(weights)
        .map(|(&count, weight)| {
            let expected = weight / whole * f64::from(draws);
            assert!(expected >= 5.0, "too few draws for weight {weight}");
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    let k = (counts.len() - 1) as f64;
    let limit = k * (1.0 - 2.0 / (9.0 * k) + 3.09 * (2.0 / (9.0 * k)).sqrt()).powi(3);
    assert!(sum < limit, "chi² {sum}, limit {limit}: {counts:?}");
}

/// How often each of `low..=high` occurs in `numbers`.
fn counts(numbers: &[i64], low: i64, high: i64) -> Vec<u32> {
    let mut counts = vec![0; (high - low + 1) as usize];
    numbers.iter().for_each(|number| counts[(number - low) as usize] += 1);
    counts
}

#[test]
fn integer_draws_follow_their_distribution() {
    fits(&counts(&whole("{ uniform = [-3, 6] }", 1, 20_000), -3, 6), &[1.0; 10]);
    let zipf: Vec<f64> = (1..=20).map(|rank| f64::from(rank).powf(-0.8)).collect();
    fits(&counts(&whole("{ zipf = [5, 24], theta = 0.8, scrambled = false }", 2, 20_000), 5, 24), &zipf);
    let mut scrambled = counts(&whole("{ zipf = [5, 24], theta = 0.8 }", 3, 20_000), 5, 24);
    assert_ne!(scrambled[0], *scrambled.iter().max().expect("some"), "the most popular one is not the first");
    scrambled.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    fits(&scrambled, &zipf);
    let bell: Vec<f64> = (-10..=10).map(|x| (-f64::from(x * x) / 72.0).exp()).collect();
    fits(&counts(&whole("{ normal = [90, 110], sd = 6 }", 4, 50_000), 90, 110), &bell);
    let falling: Vec<f64> = (0..10).map(|x| (-f64::from(x) / 4.0).exp()).collect();
    fits(&counts(&whole("{ exponential = [0, 9], mean = 4 }", 5, 20_000), 0, 9), &falling);
    fits(
        &counts(&whole("{ choice = [7, 9, 8], weights = [70, 25, 5] }", 6, 20_000), 7, 9),
        &[70.0, 5.0, 25.0],
    );
}

#[test]
fn nurand_follows_specified_distribution() {
    // (((random(0, A) | random(x, y)) + C) % (y − x + 1)) + x, over all pairs.
    let (a, c, low, high) = (15, 5, 10, 29);
    let mut weights = vec![0.0; 20];
    for of_a in 0..=a {
        for of_all in low..=high {
            weights[(((of_a | of_all) + c) % (high - low + 1)) as usize] += 1.0;
        }
    }
    let possible_values: Vec<usize> = (0..20).filter(|&at| weights[at] > 0.0).collect();
    let counts = counts(&whole("{ nurand = [10, 29], a = 15, c = 5 }", 7, 50_000), low, high);
    let select = |all: &[f64]| possible_values.iter().map(|&at| all[at]).collect::<Vec<_>>();
    let of_there: Vec<u32> = possible_values.iter().map(|&at| counts[at]).collect();
    assert_eq!(of_there.iter().sum::<u32>(), 50_000);
    fits(&of_there, &select(&weights));
}

#[test]
fn real_and_decimal_draws_follow_their_distribution() {
    let reals: Vec<f64> = drawn("{ uniform = [-1.0, 3.0] }", 8, 20_000)
        .into_iter()
        .map(|bound| match bound {
            Bound::Real(number) => number,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(reals.iter().all(|number| (-1.0..3.0).contains(number)));
    let mut eighths = [0; 8];
    reals.iter().for_each(|number| eighths[((number + 1.0) * 2.0) as usize] += 1);
    fits(&eighths, &[1.0; 8]);
    let decimals = texts("{ decimal = [-0.02, 0.02] }", 9, 5_000);
    let mut by_text: HashMap<&str, u32> = HashMap::new();
    decimals.iter().for_each(|text| *by_text.entry(text).or_default() += 1);
    let expected_texts = ["-0.02", "-0.01", "0.00", "0.01", "0.02"];
    fits(&expected_texts.map(|text| by_text.get(text).copied().unwrap_or(0)), &[1.0; 5]);
}

#[test]
fn non_ascii_letters_count_as_one_character() {
    let drawn = texts("{ text = 9, letters = \"aä€😀\" }", 10, 3_000);
    assert!(drawn.iter().all(|text| text.chars().count() == 9), "{drawn:?}");
    let letters = drawn.concat();
    let count_of = |letter: char| letters.chars().filter(|&other| other == letter).count() as u32;
    fits(&['a', 'ä', '€', '😀'].map(count_of), &[1.0; 4]);
    let lengths = texts("{ text = [1, 4], letters = \"ß\" }", 11, 5_000);
    let lengths: Vec<i64> = lengths.iter().map(|text| text.chars().count() as i64).collect();
    fits(&counts(&lengths, 1, 4), &[1.0; 4]);
    // A non-ASCII word replaces as many characters, at every position equally.
    let held = texts("{ text = 6, letters = \"x\", holds = \"größe\", holds_pct = 50 }", 12, 4_000);
    assert!(held.iter().all(|text| text.chars().count() == 6), "{held:?}");
    let texts_of = |wanted: &str| held.iter().filter(|text| *text == wanted).count() as u32;
    fits(&["xxxxxx", "größex", "xgröße"].map(texts_of), &[2.0, 1.0, 1.0]);
}

#[test]
fn letters_words_and_bytes_are_drawn_uniformly() {
    let letters: String = texts("{ text = 9, letters = \"abcde\" }", 10, 3_000).concat();
    let letter_count = |letter: char| letters.chars().filter(|&other| other == letter).count() as u32;
    fits(&['a', 'b', 'c', 'd', 'e'].map(letter_count), &[1.0; 5]);
    let lengths: Vec<i64> =
        texts("{ text = [0, 4] }", 11, 5_000).iter().map(|text| text.len() as i64).collect();
    fits(&counts(&lengths, 0, 4), &[1.0; 5]);
    let words = texts("{ words = [\"a\", \"bcd\"], count = [1, 3] }", 12, 100);
    assert!(words.iter().all(|text| text.split(' ').all(|word| ["a", "bcd"].contains(&word))));
    let counts: Vec<usize> = words.iter().map(|text| text.split(' ').count()).collect();
    assert!((1..=3).all(|count| counts.contains(&count)));
    let bytes: Vec<u8> = drawn("{ bytes = [1, 16] }", 13, 3_000)
        .into_iter()
        .flat_map(|bound| match bound {
            Bound::Bytes(bytes) => bytes,
            other => panic!("{other:?}"),
        })
        .collect();
    let high_bits_count = |high: u8| bytes.iter().filter(|&&byte| byte >> 5 == high).count() as u32;
    fits(&[0, 1, 2, 3, 4, 5, 6, 7].map(high_bits_count), &[1.0; 8]);
}

#[test]
fn dates_and_uuids_are_within_their_bounds() {
    let days = texts("{ date = [\"2024-02-28\", \"2024-03-01\"] }", 14, 300);
    assert!(["2024-02-28", "2024-02-29", "2024-03-01"].iter().all(|day| days.iter().any(|one| one == day)));
    assert!(days.iter().all(|day| ("2024-02-28"..="2024-03-01").contains(&day.as_str())));
    let seconds = texts("{ timestamp = [\"2026-03-21 23:59:58\", \"2026-03-22\"] }", 15, 100);
    assert!(
        seconds.iter().all(|one| ("2026-03-21 23:59:58"..="2026-03-22 00:00:00").contains(&one.as_str()))
    );
    let mut uuids = texts("{ uuid = 7, from = \"2026-01-01 00:00:00\" }", 16, 300);
    assert!(uuids.is_sorted(), "{}", uuids[0]);
    assert!(uuids[0].starts_with("019b76da-a800-7"), "{}", uuids[0]);
    uuids.extend(texts("{ uuid = 4 }", 17, 300));
    uuids.sort();
    assert!(uuids.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn permutation_covers_range_and_sequence_cycles() {
    let all = whole("{ permutation = [11, 20] }", 18, 30);
    for turn in all.chunks(10) {
        let mut turn = turn.to_vec();
        turn.sort_unstable();
        assert_eq!(turn, (11..=20).collect::<Vec<i64>>());
    }
    assert_ne!(all[..10], all[10..20], "another order each time");
    assert_eq!(whole("{ sequence = [5, 7] }", 19, 5), [5, 6, 7, 5, 6]);
    // The values of session 3.
    assert_eq!(whole("{ sequence = [5, 7], apart = true }", 19, 4), [14, 15, 16, 14]);
}

#[test]
fn templates_and_json_documents_embed_other_values() {
    let draws = "n = -5\nr = 2.5\nw = 'say \"hi\"'\nd = { decimal = [1.5, 1.5] }\n\
                 x = { json = '{ \"n\": :n, \"r\": [:r,:d], \"w\"::w, \"is\":true, \":n\": \"a:n\\\":n\" }' }\n\
                 y = { template = \":w/:n (:x)\" }";
    let custom_workload = workload(draws, "sql = \"SELECT :x, :y\"");
    let expected =
        "{ \"n\": -5, \"r\": [2.5,1.50], \"w\":\"say \\\"hi\\\"\", \"is\":true, \":n\": \"a:n\\\":n\" }";
    let bound_values = values(&custom_workload, "any", (1, 1), 1).remove(0);
    assert_eq!(
        bound_values,
        [Bound::Text(expected.to_owned()), Bound::Text(format!("say \"hi\"/-5 ({expected})"))]
    );
}

#[test]
fn same_seed_gives_same_values_on_every_engine() {
    let shop = shop();
    let first = values(&shop, "sqlite", (5, 9), 200);
    assert_eq!(first, values(&shop, "mysql", (5, 9), 200));
    assert_ne!(first, values(&shop, "sqlite", (5, 10), 200));
    assert_ne!(first, values(&shop, "sqlite", (6, 9), 200));
    let draw = "x = { uniform = [1, 1_000_000] }";
    let of_x = |draws: &str| values(&workload(draws, "sql = \"SELECT :x\""), "any", (1, 1), 50);
    assert_eq!(of_x(draw), of_x(&format!("a = {{ text = 9 }}\n{draw}\nz = {{ expr = \"x\" }}")));
}

#[test]
fn transaction_frequencies_match_weights() {
    let shop = shop();
    let mut actor = CustomActor::new(&shop, "sqlite", 1, 1).expect("SQL");
    let mut counts = [0; 4];
    for _ in 0..20_000 {
        counts[actor.draw().place().expect("a transaction")] += 1;
    }
    fits(&counts, &[45.0, 43.0, 10.0, 2.0]);
    while actor.draw().place() != Some(3) {}
    assert!((1_000_000..=5_000_000).contains(&actor.think_ns()));
}

#[test]
fn deck_draws_transactions_exactly_by_weight() {
    let main = "name = \"w\"\ndeck = true\n[transaction.a]\nweight = 6\nsql = \"SELECT 1\"\n[transaction.b]\nweight = 0\n\
                sql = \"SELECT 1\"\n[transaction.c]\nweight = 4\nsql = \"SELECT 1\"\n";
    let custom_workload = super::read(&[("workload.toml", main)]).expect("a workload");
    assert_eq!(custom_workload.deck(), Some(5));
    let mut actor = CustomActor::new(&custom_workload, "any", 1, 1).expect("SQL");
    let mut orders = Vec::new();
    for _ in 0..100 {
        let round: Vec<usize> = (0..5).map(|_| actor.draw().place().expect("a transaction")).collect();
        assert_eq!([0, 1, 2].map(|of| round.iter().filter(|&&class| class == of).count()), [3, 0, 2]);
        orders.push(round);
    }
    assert!(orders.windows(2).any(|pair| pair[0] != pair[1]), "the order is another one each time");
}

#[test]
fn custom_session_state_is_small() {
    assert!(size_of::<CustomActor>() <= 288, "{} bytes", size_of::<CustomActor>());
}

proptest! {
    #[test]
    fn drawn_numbers_stay_within_any_range(
        low in -1_000_000_000_000i64..1_000_000_000_000, span in 0i64..1_000_000_000_000, seed: u64, law in 0usize..6,
    ) {
        let range = format!("[{low}, {}]", low + span);
        let draw = match law {
            0 => format!("{{ uniform = {range} }}"),
            1 => format!("{{ zipf = {range} }}"),
            2 => format!("{{ normal = {range}, sd = 1000 }}"),
            3 => format!("{{ exponential = {range}, mean = 1e6 }}"),
            4 => format!("{{ permutation = {range} }}"),
            _ => format!("{{ sequence = {range} }}"),
        };
        for number in whole(&draw, seed, 20) {
            prop_assert!((low..=low + span).contains(&number), "{draw}: {number}");
        }
    }

    #[test]
    fn expressions_match_rust_arithmetic(a in -1000i64..1000, b in -1000i64..1000, c in 1i64..100) {
        let draws = format!(
            "a = {a}\nb = {b}\nc = {c}\nx = {{ expr = \"a + b * c - -a / c % 7\" }}\n\
             y = {{ expr = \"(a < b or a = b and not c > 50) + max(a, min(b, c)) - abs(a - b)\" }}\n\
             z = {{ expr = \"int(real(a) / 2)\" }}"
        );
        let custom_workload = workload(&draws, "sql = \"SELECT :x, :y, :z\"");
        let truth = i64::from(a < b || (a == b && (c <= 50)));
        let expected =
            [a + b * c - -a / c % 7, truth + a.max(b.min(c)) - (a - b).abs(), a / 2].map(Bound::Int);
        prop_assert_eq!(&values(&custom_workload, "any", (1, 1), 1)[0], &expected);
    }
}
