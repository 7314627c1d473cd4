//! A procedure's call as the block that is sent: the SQL statement CALL would take "no data found" inside of it for its end, and say
//! nothing.

/// `call`, which is `CALL name(arguments)`, as a block. What is read of it is the last parameter of the procedure, a number that it
/// gives out, for which `tells` stands.
pub(crate) fn called(call: &str, tells: Option<&str>) -> String {
    let call = call.trim();
    let call = call
        .get(4..)
        .filter(|_| call.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("call")))
        .unwrap_or(call);
    let call = call.trim_start();
    let Some(tells) = tells else { return format!("BEGIN {call}; END;") };
    match call.strip_suffix(')') {
        Some(open) if open.trim_end().ends_with('(') => format!("BEGIN {open}{tells}); END;"),
        Some(open) => format!("BEGIN {open}, {tells}); END;"),
        None => format!("BEGIN {call}({tells}); END;"),
    }
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn a_call_is_a_block_and_tells_its_last_parameter() {
        assert_eq!(called("CALL pay(:1, :2)", None), "BEGIN pay(:1, :2); END;");
        assert_eq!(called("call  pay(:1,\n :2)", Some(":3")), "BEGIN pay(:1,\n :2, :3); END;");
        assert_eq!(called("CALL pay()", Some(":1")), "BEGIN pay(:1); END;");
        assert_eq!(called("CALL pay", Some(":1")), "BEGIN pay(:1); END;");
        assert_eq!(called("CALL pay", None), "BEGIN pay; END;");
    }
}
