//! Tests of the spelling of quantities, and that each one reads back exactly.

use super::*;
use proptest::prelude::*;

fn size(text: &str) -> Option<BlocksOrBytes> {
    text.parse().ok()
}

fn bytes(text: &str) -> Option<u64> {
    text.parse().map(|Bytes(bytes)| bytes).ok()
}

fn span_us(text: &str) -> Option<u128> {
    text.parse().map(|TimeSpan(span)| span.as_micros()).ok()
}

#[test]
fn data_size_is_given_in_blocks_or_bytes() {
    for text in ["10000 blocks", "10000", " 10000 ", "10000blocks", "10000 Blocks"] {
        assert_eq!(size(text), Some(BlocksOrBytes::Blocks(BlockCount(10_000))), "{text}");
    }
    assert_eq!(size("1 block"), Some(BlocksOrBytes::Blocks(BlockCount(1))));
    for text in ["80M", "80m", "80MB", "80MiB", "80 M", "80.0M", "81920K"] {
        assert_eq!(size(text), Some(BlocksOrBytes::Bytes(Bytes(80 << 20))), "{text}");
    }
    assert_eq!(size("1.5G"), Some(BlocksOrBytes::Bytes(Bytes(3 << 29))));
    assert_eq!(size("12345B"), Some(BlocksOrBytes::Bytes(Bytes(12_345))));
    assert_eq!(size("0B"), Some(BlocksOrBytes::Bytes(Bytes(0))));
}

#[test]
fn invalid_sizes_are_refused() {
    for text in [
        "",
        " ",
        "blocks",
        "M",
        "B",
        "-1",
        "+1",
        "1.5",
        "1.5 blocks",
        "1e6",
        "nan",
        "inf",
        "80Q",
        "80 M B",
        "8iB",
        "80iM",
        "0x10",
        "1_000",
        "1,000",
        ".5G",
        "5.G",
        "1.2.3G",
        "99999999999999999999",
        "16777216T",
        "１０",
        "1e18",
        "99999999999999999999999999999999999999999999G",
        "-80M",
    ] {
        assert_eq!(size(text), None, "{text:?}");
    }
}

#[test]
fn byte_sizes_above_2_to_the_53_are_exact() {
    assert_eq!(bytes("18446744073709551615"), Some(u64::MAX));
    assert_eq!(bytes("18446744073709551615B"), Some(u64::MAX));
    assert_eq!(bytes("18446744073709551616"), None);
    assert_eq!(bytes("9007199254740993"), Some((1 << 53) + 1));
    assert_eq!(bytes("18014398509481983K"), Some(u64::MAX - 1023));
    assert_eq!(bytes("18014398509481984K"), None);
    assert_eq!(bytes("0.1K"), Some(102));
    assert_eq!(bytes("1.5"), None, "half a byte");
}

#[test]
fn durations_need_a_unit() {
    assert_eq!(span_us("500ms"), Some(500_000));
    assert_eq!(span_us("1.5s"), Some(1_500_000));
    assert_eq!(span_us("5 m"), Some(300_000_000));
    assert_eq!(span_us("2h"), Some(7_200_000_000));
    assert_eq!(span_us("0s"), Some(0));
    for text in ["30", "", "s", "-1s", "nans", "infs", "1e3s", "87840h", "1m30s", "1d", "1.s", "30S s"] {
        assert_eq!(span_us(text), None, "{text:?}");
    }
}

#[test]
fn rates_must_be_per_second_and_above_zero() {
    assert_eq!("5000/s".parse(), Ok(Rate(5_000.0)));
    assert_eq!("0.5 /s".parse(), Ok(Rate(0.5)));
    for text in ["5000", "0/s", "0.0/s", "-1/s", "nan/s", "inf/s", "1e3/s", "/s", "1000000000000/s", "5/m"] {
        assert!(text.parse::<Rate>().is_err(), "{text:?}");
    }
}

#[test]
fn size_error_names_input_and_allowed_units() {
    let error = "80Q".parse::<BlocksOrBytes>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"80Q\" is not a size: write blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)"
    );
}

proptest! {
    #[test]
    fn byte_sizes_round_trip(exact: u64, shift in 0u32..64) {
        for bytes in [Bytes(exact), Bytes(exact >> shift), Bytes(exact >> shift << shift)] {
            prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
            prop_assert_eq!(BlocksOrBytes::Bytes(bytes).to_string().parse(), Ok(BlocksOrBytes::Bytes(bytes)));
            let blocks = BlocksOrBytes::Blocks(BlockCount(bytes.0));
            prop_assert_eq!(blocks.to_string().parse(), Ok(blocks));
        }
    }

    #[test]
    fn time_spans_round_trip(ns in 0u64..SPAN_NS_END as u64, unit in 0usize..TIMES.len()) {
        let whole_units = ns - ns % TIMES[unit].1;
        for span in [ns, whole_units].map(|ns| TimeSpan(Duration::from_nanos(ns))) {
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
    }

    #[test]
    fn rate_values_round_trip(bits: u64) {
        let rate = Rate(f64::from_bits(bits));
        if rate.0 > 0.0 && rate.0 < 1e12 {
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }
    }

    #[test]
    fn unit_parsers_never_panic_on_any_text(text in ".*", number in "[0-9.]{0,50}", unit in "(B|K|KiB|T|blocks|ns|ms|s|h|/s)?") {
        for text in [text, format!("{number}{unit}")] {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<BlocksOrBytes>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<TimeSpan>();
        }
    }
}
