//! Checks that all figures of a value are finite numbers, by visiting the value instead of parsing its JSON text.
//!
//! JSON has no infinity or NaN: serde_json writes something else, which is read back as another value or not at all. Visiting
//! a record takes a tenth of the time of parsing its text again.

use std::fmt;

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

/// Whether all figures in `value` are finite numbers.
pub(crate) fn is_finite(value: &impl Serialize) -> bool {
    value.serialize(FiniteCheck).is_ok()
}

/// The error for a figure that is not finite.
#[derive(Debug)]
struct NonFiniteFigure;

impl fmt::Display for NonFiniteFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a figure is not a finite number")
    }
}

impl std::error::Error for NonFiniteFigure {}

impl ser::Error for NonFiniteFigure {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A serializer that visits a value and produces no output.
#[derive(Clone, Copy)]
struct FiniteCheck;

type Step = Result<(), NonFiniteFigure>;
type Inner = Result<FiniteCheck, NonFiniteFigure>;

macro_rules! passed {
    ($($name:ident: $type:ty),*) => {$(
        fn $name(self, _: $type) -> Step {
            Ok(())
        }
    )*};
}

impl ser::Serializer for FiniteCheck {
    type Ok = ();
    type Error = NonFiniteFigure;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn serialize_f32(self, figure: f32) -> Step {
        self.serialize_f64(figure.into())
    }

    fn serialize_f64(self, figure: f64) -> Step {
        if figure.is_finite() { Ok(()) } else { Err(NonFiniteFigure) }
    }

    passed!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64);
    passed!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char);
    passed!(serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str);

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Step {
        Ok(())
    }

    fn serialize_none(self) -> Step {
        Ok(())
    }

    fn serialize_unit(self) -> Step {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Step {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Step {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Step {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Step {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Inner {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Inner {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Inner {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Inner {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Inner {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Inner {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Inner {
        Ok(self)
    }
}

macro_rules! listed {
    ($($list:ident: $element:ident),*) => {$(
        impl $list for FiniteCheck {
            type Ok = ();
            type Error = NonFiniteFigure;
            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Step {
                value.serialize(*self)
            }
            fn end(self) -> Step {
                Ok(())
            }
        }
    )*};
}
listed!(SerializeSeq: serialize_element, SerializeTuple: serialize_element);
listed!(SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field);

macro_rules! named {
    ($($list:ident),*) => {$(
        impl $list for FiniteCheck {
            type Ok = ();
            type Error = NonFiniteFigure;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Step {
                value.serialize(*self)
            }
            fn end(self) -> Step {
                Ok(())
            }
        }
    )*};
}
named!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for FiniteCheck {
    type Ok = ();
    type Error = NonFiniteFigure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Step {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Step {
        value.serialize(*self)
    }

    fn end(self) -> Step {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::sample;

    /// Every position in which a figure can occur.
    #[derive(serde::Serialize)]
    enum Shape {
        One(f64),
        Two(u8, f32),
        Named { figure: Option<f64> },
        Plain,
    }

    #[test]
    fn non_finite_figure_is_found_at_any_depth() {
        for (figure, finite) in [(1.5, true), (f64::NAN, false), (f64::INFINITY, false), (f64::MIN, true)] {
            let shapes = [
                Shape::One(figure),
                Shape::Two(1, figure.clamp(-9.0, 9.0) as f32 / if finite { 1.0 } else { 0.0 }),
                Shape::Named { figure: Some(figure) },
            ];
            for shape in &shapes {
                assert_eq!(is_finite(shape), finite, "{figure}");
                let around = (BTreeMap::from([("x", vec![(Shape::Plain, shape)])]), "text", [1u64]);
                assert_eq!(is_finite(&around), finite, "{figure}");
            }
        }
        assert!(is_finite(&(Shape::Named { figure: None }, (), 'x', json!({"a": [1, null, "b"]}))));
    }

    #[test]
    fn record_is_finite_only_if_all_figures_are() {
        let record = sample::full();
        assert!(is_finite(&record));
        let mut broken = record.clone();
        broken.hosts[0].counters.insert("x".into(), f64::NAN);
        assert!(!is_finite(&broken));
        let mut broken = record;
        broken.window.as_mut().unwrap().seconds = f64::NEG_INFINITY;
        assert!(!is_finite(&broken));
    }

    proptest! {
        #[test]
        fn list_is_finite_only_if_all_figures_are(bits in proptest::collection::vec(any::<u64>(), 0..20)) {
            let figures: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            prop_assert_eq!(is_finite(&figures), figures.iter().all(|figure| figure.is_finite()));
        }
    }
}
