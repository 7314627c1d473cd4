//! Converts values to the driver's form: references, in the order in which a statement names its binds.

use oracledb::ToDbValue;

use dyno_engine::statement::misfit;
use dyno_engine::{OpError, Type, Value};

/// The texts among `values`, which must fit `params`; an empty text for each other value.
///
/// # Errors
/// A value does not fit, or is not valid UTF-8.
pub(super) fn texts<'a>(params: &[Type], values: &[Value<'a>]) -> Result<Vec<&'a str>, Box<OpError>> {
    if values.len() != params.len() || !values.iter().zip(params).all(|(value, &of)| value.fits(of)) {
        return Err(misfit(params, values));
    }
    let text = |value: &Value<'a>| match *value {
        Value::Text(bytes) => {
            std::str::from_utf8(bytes).map_err(|error| OpError::fatal("values", format!("a text: {error}")))
        }
        _ => Ok(""),
    };
    values.iter().map(text).collect()
}

/// The binds of `values` with their [`texts`]. NULL has the type of its parameter, so that the database
/// shares one cursor with other values.
pub(super) fn binds<'a>(
    params: &[Type],
    values: &'a [Value<'a>],
    texts: &'a [&'a str],
) -> Vec<&'a dyn ToDbValue> {
    let bind = |((value, text), of): ((&'a Value<'a>, &'a &'a str), &Type)| -> &'a dyn ToDbValue {
        match (value, of) {
            (Value::Int(number), _) => number,
            (Value::Real(number), _) => number,
            (Value::Text(_), _) => text,
            (Value::Bytes(bytes), _) => bytes,
            (Value::Null, Type::Int) => &None::<i64>,
            (Value::Null, Type::Real) => &None::<f64>,
            (Value::Null, Type::Bytes) => &None::<&[u8]>,
            (Value::Null, Type::Text | Type::Literal) => &None::<&str>,
        }
    };
    values.iter().zip(texts).zip(params).map(bind).collect()
}

#[cfg(test)]
mod tests {
    use dyno_engine::ErrorClass;
    use oracledb::{DB_TYPE_BINARY_DOUBLE, DB_TYPE_NUMBER, DB_TYPE_RAW, DB_TYPE_VARCHAR};

    use super::*;

    const ALL: [Type; 5] = [Type::Int, Type::Real, Type::Text, Type::Bytes, Type::Literal];

    #[test]
    fn bound_value_and_null_have_their_parameter_type() {
        let values =
            [Value::Int(-1), Value::Real(0.5), Value::Text(b"a"), Value::Bytes(b"\xff"), Value::Text(b"1")];
        for values in [values, [Value::Null; 5]] {
            let texts = texts(&ALL, &values).unwrap();
            let types: Vec<_> =
                binds(&ALL, &values, &texts).iter().map(|bind| bind.db_type().name()).collect();
            let expected =
                [DB_TYPE_NUMBER, DB_TYPE_BINARY_DOUBLE, DB_TYPE_VARCHAR, DB_TYPE_RAW, DB_TYPE_VARCHAR];
            assert_eq!(types, expected.map(|of| of.name()));
        }
    }

    #[test]
    fn values_that_cannot_be_bound_are_a_fatal_error() {
        for bad in
            [&[Value::Int(1)][..], &[Value::Int(1), Value::Int(1)], &[Value::Int(1), Value::Text(b"\xff")]]
        {
            let error = texts(&[Type::Int, Type::Text], bad).unwrap_err();
            assert_eq!(error.class, ErrorClass::Fatal, "{bad:?}: {error}");
        }
    }
}
