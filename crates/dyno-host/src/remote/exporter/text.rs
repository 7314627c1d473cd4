//! Parses Prometheus' text format: `name{label="value"} 1.5`, one sample per line (Exposition formats,
//! text-based, 0.0.4).

use std::collections::BTreeMap;

/// The most samples that are kept.
const SAMPLES_MAX: usize = 200_000;

/// One sample: its labels and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExporterSample {
    labels: Vec<(String, String)>,
    pub(super) value: f64,
}

impl ExporterSample {
    /// The value of a label; empty where the sample has no such label.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(label, _)| label == name).map_or("", |(_, value)| value.as_str())
    }
}

#[derive(Debug, Default)]
pub(super) struct ExporterSamples(BTreeMap<String, Vec<ExporterSample>>);

impl ExporterSamples {
    /// Parses a text; lines that cannot be parsed are skipped.
    pub(super) fn of(text: &str) -> Self {
        let mut all = Self::default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (name, sample) in lines.filter_map(line).take(SAMPLES_MAX) {
            all.0.entry(name.to_owned()).or_default().push(sample);
        }
        all
    }

    /// All samples of a name.
    pub(super) fn all(&self, name: &str) -> &[ExporterSample] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of a name that has exactly one sample.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        match self.all(name) {
            [one] => Some(one.value),
            _ => None,
        }
    }

    /// That value as an integer.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        whole(self.value(name)?)
    }
}

/// A value as an integer; absent if it is not a count.
pub(super) fn whole(value: f64) -> Option<u64> {
    // Beyond this limit, a floating-point number cannot represent every integer.
    (0.0..=9_007_199_254_740_992.0).contains(&value).then_some(value.round() as u64)
}

fn line(line: &str) -> Option<(&str, ExporterSample)> {
    let end = line.find(['{', ' '])?;
    let name = &line[..end];
    let (labels, rest) = match line[end..].strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), &line[end..]),
    };
    // A timestamp may follow the value.
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some((name, ExporterSample { labels, value }))
}

/// The labels up to the closing brace, and the rest of the line.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut pairs = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((pairs, behind));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = quoted.char_indices();
        loop {
            match chars.next()? {
                (at, '"') => {
                    rest = &quoted[at + 1..];
                    break;
                }
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    escaped => value.push(escaped),
                },
                (_, plain) => value.push(plain),
            }
        }
        pairs.push((name.trim().to_owned(), value));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exporter_samples_are_read_with_and_without_labels() {
        let text = "# HELP x\nx 1.5e+3\ny{a=\"1\",b=\"q\\\"\\\\,}\\n\"} 2 1700000000\ny{a=\"2\"} NaN\nbroken{a=\"\n\n z 1\n";
        let samples = ExporterSamples::of(text);
        assert_eq!(
            (samples.value("x"), samples.count("x"), samples.value("y")),
            (Some(1_500.0), Some(1_500), None)
        );
        let [first, second] = samples.all("y") else { panic!("{samples:?}") };
        assert_eq!((first.label("b"), first.value, second.label("b")), ("q\"\\,}\n", 2.0, ""));
        assert_eq!(whole(second.value), None);
        assert!(samples.all("broken").is_empty());
    }

    proptest! {
        #[test]
        fn exporter_text_parser_survives_any_text(text in "([a-z]{1,3}(\\{[a-z\"=,\\\\]{0,9}\\})? [0-9.eE+-]{0,5}\n|\\PC{0,20}\n){0,9}") {
            let _ = ExporterSamples::of(&text);
        }
    }
}
