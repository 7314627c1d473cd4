//! Builds messages once and overwrites their values for each execution.

use super::encode::{self, Encoding, check_range, int8};
use crate::wire::message;
use dyno_engine::statement::misfit;
use dyno_engine::{OpError, Type, Value};

/// The messages that follow Execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Sync: the result arrives in one piece.
    Sync,
    /// Flush, then Sync: the statement's end arrives before its commit.
    FlushSync,
}

/// The length word of NULL.
const NULL: u32 = u32::MAX;

/// Bind, Execute and Sync of one statement. Values of unchanged length are overwritten in place.
#[derive(Debug)]
pub(super) struct PostgresRequestTemplate {
    bytes: Vec<u8>,
    /// Number of bytes before Bind.
    before: usize,
    name: String,
    types: Vec<Type>,
    encodings: Vec<Encoding>,
    ending: Ending,
    /// Whether the server describes the columns of its rows, which then arrive as text.
    columns: bool,
    /// The start of each value, and its length word.
    slots: Vec<(usize, u32)>,
}

impl PostgresRequestTemplate {
    /// A template for the statement `name` with parameters of these types, after the messages in `bytes`.
    /// `oids` are the server's types of the parameters.
    pub(super) fn new(bytes: Vec<u8>, name: &str, types: &[Type], oids: &[u32], ending: Ending) -> Self {
        let (before, name, types) = (bytes.len(), name.to_owned(), types.to_vec());
        let encodings = types.iter().zip(oids).map(|(&kind, &of)| Encoding::new(kind, of)).collect();
        let mut template =
            Self { bytes, before, name, types, encodings, ending, columns: false, slots: Vec::new() };
        template.empty();
        template
    }

    /// Sets that the columns of the statement's rows are used.
    pub(super) fn with_columns(mut self) -> Self {
        self.columns = true;
        self.empty();
        self
    }

    fn empty(&mut self) {
        self.build(&vec![Value::Null; self.types.len()]);
    }

    /// Inserts `values`.
    ///
    /// # Errors
    /// A value does not have its parameter's type, or is outside the range of the server's type.
    #[inline]
    pub(super) fn fill(&mut self, values: &[Value<'_>]) -> Result<(), Box<OpError>> {
        if values.len() != self.types.len() {
            return Err(misfit(&self.types, values));
        }
        for (index, value) in values.iter().enumerate() {
            let (at, length) = self.slots[index];
            match *value {
                Value::Int(number) if length == 8 && self.encodings[index] == Encoding::Int8 => {
                    self.bytes[at..at + 8].copy_from_slice(&int8(number));
                }
                Value::Text(text)
                    if text.len() == length as usize
                        && matches!(self.types[index], Type::Text | Type::Literal) =>
                {
                    self.bytes[at..at + text.len()].copy_from_slice(text);
                }
                // Rare values are not patched: all values are written again.
                _ => return self.rebuild(values),
            }
        }
        Ok(())
    }

    /// Writes all values again, for values of other lengths.
    #[inline(never)]
    fn rebuild(&mut self, values: &[Value<'_>]) -> Result<(), Box<OpError>> {
        if !values.iter().zip(&self.types).all(|(value, &of)| value.fits(of)) {
            return Err(misfit(&self.types, values));
        }
        for (index, (value, &encoding)) in values.iter().zip(&self.encodings).enumerate() {
            check_range(*value, encoding, index + 1)?;
        }
        self.build(values);
        Ok(())
    }

    fn build(&mut self, values: &[Value<'_>]) {
        let Self { bytes, before, name, encodings, ending, columns, slots, .. } = self;
        bytes.truncate(*before);
        slots.clear();
        message::message(bytes, b'B', |out| {
            out.push(0);
            message::text(out, name);
            encode::formats(out, encodings);
            message::count(out, values.len());
            for (value, &encoding) in values.iter().zip(&*encodings) {
                let head = out.len();
                out.extend_from_slice(&NULL.to_be_bytes());
                if encode::value(out, *value, encoding) {
                    // A message is far shorter than 4 GiB.
                    let length = (out.len() - head - 4) as u32;
                    out[head..head + 4].copy_from_slice(&length.to_be_bytes());
                    slots.push((head + 4, length));
                } else {
                    slots.push((head + 4, NULL));
                }
            }
            // One format code for binary results; without a code they arrive as text.
            message::count(out, usize::from(!*columns));
            if !*columns {
                message::count(out, 1);
            }
        });
        if *columns {
            message::describe(bytes);
        }
        message::execute(bytes);
        if *ending == Ending::FlushSync {
            message::flush(bytes);
        }
        message::sync(bytes);
    }

    /// The messages in their encoding for the server.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::{oid, type_oid};
    use super::*;
    use proptest::prelude::*;

    fn declared(bytes: Vec<u8>, name: &str, types: &[Type], ending: Ending) -> PostgresRequestTemplate {
        let oids: Vec<u32> = types.iter().map(|&kind| type_oid(kind)).collect();
        PostgresRequestTemplate::new(bytes, name, types, &oids, ending)
    }

    #[test]
    fn integers_use_server_width_and_are_range_checked() {
        let (int, real) = (Type::Int, Type::Real);
        let types = [int, int, int, int, int, real, real, real];
        let oids =
            [oid::INT2, oid::INT4, oid::INT8, oid::OID, oid::TEXT, oid::FLOAT4, oid::FLOAT8, oid::NUMERIC];
        let mut template = PostgresRequestTemplate::new(Vec::new(), "", &types, &oids, Ending::Sync);
        let values = |number: i64| {
            let (int, real) = (Value::Int(number), Value::Real(number as f64 / 2.0));
            [int, int, int, int, int, real, real, real]
        };
        template.fill(&values(7)).unwrap();
        let body = b"\0\0\0\x02\0\x07\0\0\0\x04\0\0\0\x07\0\0\0\x08\0\0\0\0\0\0\0\x07\0\0\0\x04\0\0\0\x07\0\0\0\x017\
            \0\0\0\x04\x40\x60\0\0\0\0\0\x08\x40\x0c\0\0\0\0\0\0\0\0\0\x033.5";
        let bytes = template.bytes();
        assert!(bytes.windows(body.len()).any(|part| part == body), "{bytes:?}");
        for (of, number, fits) in [
            (oid::INT2, 32_767, true),
            (oid::INT2, -32_769, false),
            (oid::INT4, -2_147_483_648, true),
            (oid::INT4, 2_147_483_648, false),
            (oid::OID, 4_294_967_295, true),
            (oid::OID, -1, false),
            (oid::INT8, i64::MIN, true),
        ] {
            let mut template = PostgresRequestTemplate::new(Vec::new(), "", &[int], &[of], Ending::Sync);
            let filled = template.fill(&[Value::Int(number)]);
            assert_eq!(filled.is_ok(), fits, "{number} for {of}");
            if let Err(error) = filled {
                assert!(error.message.contains(&number.to_string()), "{error}");
            }
        }
    }

    #[test]
    fn bind_template_places_values_in_their_slots() {
        let mut template = declared(Vec::new(), "u", &[Type::Int, Type::Text], Ending::FlushSync);
        template.fill(&[Value::Int(7), Value::Text(b"abcd")]).unwrap();
        let bind =
            b"B\0\0\0\x25\0u\0\0\x01\0\x01\0\x02\0\0\0\x08\0\0\0\0\0\0\0\x07\0\0\0\x04abcd\0\x01\0\x01";
        let rest = b"E\0\0\0\x09\0\0\0\0\0H\0\0\0\x04S\0\0\0\x04";
        assert_eq!(template.bytes(), [bind.as_slice(), rest].concat());
    }

    #[test]
    fn values_of_wrong_type_are_refused() {
        let mut template = declared(Vec::new(), "u", &[Type::Int, Type::Text], Ending::Sync);
        for values in [
            &[Value::Int(1)][..],
            &[Value::Text(b"1"), Value::Text(b"1")],
            &[Value::Int(1), Value::Bytes(b"1")],
        ] {
            let error = template.fill(values).unwrap_err();
            assert_eq!(error.class, dyno_engine::ErrorClass::Fatal, "{error}");
        }
    }

    fn value() -> impl Strategy<Value = Option<Vec<u8>>> {
        prop::option::of(prop::collection::vec(b'a'..b'f', 0..4))
    }

    proptest! {
        #[test]
        fn patched_bind_message_equals_rebuilt_one(
            all in prop::collection::vec((prop::option::of(any::<i64>()), value(), value()), 1..20),
        ) {
            let types = [Type::Int, Type::Text, Type::Literal];
            let mut patched = declared(vec![9], "s", &types, Ending::Sync);
            for (number, text, literal) in &all {
                let values = [
                    number.map_or(Value::Null, Value::Int),
                    text.as_deref().map_or(Value::Null, Value::Text),
                    literal.as_deref().map_or(Value::Null, Value::Text),
                ];
                patched.fill(&values).unwrap();
                let mut anew = declared(vec![9], "s", &types, Ending::Sync);
                anew.fill(&values).unwrap();
                prop_assert_eq!(patched.bytes(), anew.bytes());
            }
        }
    }
}
