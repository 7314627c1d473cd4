//! Prometheus' text format: `name{label="value"} 1.5`, one sample a line (its Exposition formats, text-based, 0.0.4).

use std::collections::BTreeMap;

/// Samples that are kept at most.
const SAMPLES_MAX: usize = 200_000;

/// One sample: its labels and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    labels: Vec<(String, String)>,
    pub(super) value: f64,
}

impl Sample {
    /// The value of a label; empty where it has none.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(label, _)| label == name).map_or("", |(_, value)| value.as_str())
    }
}

/// Samples by name.
#[derive(Debug, Default)]
pub(super) struct Samples(BTreeMap<String, Vec<Sample>>);

impl Samples {
    /// Those of a text; lines that are not understood are left out.
    pub(super) fn of(text: &str) -> Self {
        let mut all = Self::default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (name, sample) in lines.filter_map(line).take(SAMPLES_MAX) {
            all.0.entry(name.to_owned()).or_default().push(sample);
        }
        all
    }

    /// All samples of a name.
    pub(super) fn all(&self, name: &str) -> &[Sample] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The only sample of a name.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        match self.all(name) {
            [one] => Some(one.value),
            _ => None,
        }
    }

    /// The same as a whole number.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        whole(self.value(name)?)
    }
}

/// A number that counts; what is none is nothing.
pub(super) fn whole(value: f64) -> Option<u64> {
    // Numbers beyond are no longer told one by one.
    (0.0..=9_007_199_254_740_992.0).contains(&value).then_some(value.round() as u64)
}

fn line(line: &str) -> Option<(&str, Sample)> {
    let end = line.find(['{', ' '])?;
    let name = &line[..end];
    let (labels, rest) = match line[end..].strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), &line[end..]),
    };
    // A time may stand behind the value.
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some((name, Sample { labels, value }))
}

/// The labels up to their bracket, and what is behind it.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((found, behind));
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
        found.push((name.trim().to_owned(), value));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_with_and_without_labels() {
        let text = "# HELP x\nx 1.5e+3\ny{a=\"1\",b=\"q\\\"\\\\,}\\n\"} 2 1700000000\ny{a=\"2\"} NaN\nbroken{a=\"\n\n z 1\n";
        let samples = Samples::of(text);
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
        fn any_text_is_read_or_left_out(text in "([a-z]{1,3}(\\{[a-z\"=,\\\\]{0,9}\\})? [0-9.eE+-]{0,5}\n|\\PC{0,20}\n){0,9}") {
            let _ = Samples::of(&text);
        }
    }
}
