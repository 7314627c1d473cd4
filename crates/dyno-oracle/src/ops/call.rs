//! Sends a procedure call as a block: the SQL statement CALL would treat "no data found" inside it as its
//! regular end and hide it.

/// Converts `CALL name(arguments)` to a block. The result is the procedure's last parameter, an OUT number
/// for which `tells` is the placeholder.
pub(crate) fn call_block(call: &str, tells: Option<&str>) -> String {
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
    use super::call_block;

    #[test]
    fn call_becomes_plsql_block_with_extra_last_parameter() {
        assert_eq!(call_block("CALL pay(:1, :2)", None), "BEGIN pay(:1, :2); END;");
        assert_eq!(call_block("call  pay(:1,\n :2)", Some(":3")), "BEGIN pay(:1,\n :2, :3); END;");
        assert_eq!(call_block("CALL pay()", Some(":1")), "BEGIN pay(:1); END;");
        assert_eq!(call_block("CALL pay", Some(":1")), "BEGIN pay(:1); END;");
        assert_eq!(call_block("CALL pay", None), "BEGIN pay; END;");
    }
}
