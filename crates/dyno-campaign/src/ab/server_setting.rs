//! A server setting that differs between the sides of an A/B test, as the user names it.

use dyno_engine::is_setting_name;

use crate::error::Error;

/// How to write a setting.
const HINT: &str = "write --setting NAME=A,B with the value of each side; an empty value is the present one";

/// A server setting with its value on each side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettingSides {
    pub(super) name: String,
    /// The value on side A and on side B; empty for the value before the test.
    pub(super) values: [String; 2],
}

impl ServerSettingSides {
    /// Reads `NAME=A,B`.
    ///
    /// # Errors
    /// The name or the values are missing, or both values are equal.
    pub fn read(text: &str) -> Result<Self, Error> {
        let shown: String = text.chars().take(200).collect();
        let wrong = |problem: &str| Error::usage(format!("--setting {shown:?}: {problem}"), HINT);
        let (name, values) = text.split_once('=').ok_or_else(|| wrong("the values are missing"))?;
        let name = name.trim();
        if !is_setting_name(name) {
            return Err(wrong("it names no setting"));
        }
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        let [a, b] = values.as_slice() else { return Err(wrong("two values are needed")) };
        if a == b {
            return Err(wrong("both sides have the same value"));
        }
        if values.iter().any(|value| value.chars().any(char::is_control)) {
            return Err(wrong("a value contains control characters"));
        }
        Ok(Self { name: name.to_owned(), values: [(*a).to_owned(), (*b).to_owned()] })
    }

    /// The setting on side 0 (A) or 1 (B): `work_mem = 4MB`, or `work_mem as it is` for the value before the test.
    pub fn words(&self, side: usize) -> String {
        match self.values[side].as_str() {
            "" => format!("{} as it is", self.name),
            value => format!("{} = {value}", self.name),
        }
    }

    /// The setting as the option takes it: `work_mem=4MB,64MB`.
    pub(super) fn option(&self) -> String {
        format!("{}={},{}", self.name, self.values[0], self.values[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_options_need_a_name_and_two_values() {
        let setting = ServerSettingSides::read("work_mem = 4MB, 64MB").unwrap();
        assert_eq!(setting.option(), "work_mem=4MB,64MB");
        assert_eq!(setting.words(1), "work_mem = 64MB");
        assert_eq!(ServerSettingSides::read("work_mem=,64MB").unwrap().values, ["", "64MB"]);
        for (text, part) in [
            ("work_mem", "values are missing"),
            ("work mem=1,2", "names no setting"),
            ("x'; DROP=1,2", "names no setting"),
            ("work_mem=4MB", "two values"),
            ("work_mem=1,2,3", "two values"),
            ("work_mem=4MB,4MB", "same value"),
            ("work_mem=4\nMB,8MB", "control"),
        ] {
            let error = ServerSettingSides::read(text).unwrap_err();
            assert!(error.to_string().contains(part), "{text:?}: {error}");
            assert!(!error.hint().is_empty(), "{text:?}: {error}");
        }
    }
}
