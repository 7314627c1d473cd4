//! Reads JSON that the program wrote. A value of another kind ends the test with what was found.

use serde_json::{Map, Value};

/// A JSON value as what a test expects it to be.
pub trait ExpectJson {
    fn text(&self) -> &str;
    fn count(&self) -> u64;
    fn number(&self) -> f64;
    fn items(&self) -> &Vec<Value>;
    fn fields(&self) -> &Map<String, Value>;
}

impl ExpectJson for Value {
    #[track_caller]
    fn text(&self) -> &str {
        self.as_str().unwrap_or_else(|| panic!("expected text, found {self:#}"))
    }

    #[track_caller]
    fn count(&self) -> u64 {
        self.as_u64().unwrap_or_else(|| panic!("expected a count, found {self:#}"))
    }

    #[track_caller]
    fn number(&self) -> f64 {
        self.as_f64().unwrap_or_else(|| panic!("expected a number, found {self:#}"))
    }

    #[track_caller]
    fn items(&self) -> &Vec<Value> {
        self.as_array().unwrap_or_else(|| panic!("expected a list, found {self:#}"))
    }

    #[track_caller]
    fn fields(&self) -> &Map<String, Value> {
        self.as_object().unwrap_or_else(|| panic!("expected an object, found {self:#}"))
    }
}
