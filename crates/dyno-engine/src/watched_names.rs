//! Finds the names of tables, views and routines that a custom workload's statements use.
//!
//! Statements are not parsed: each identifier counts, and a catalog decides which are names of objects. Names
//! in an object's definition count too, such as the tables of a view or a function.

use std::collections::BTreeSet;

/// The deepest nesting of definitions that is followed; deeper ones are not watched.
const DEPTH_MAX: usize = 8;

/// Every identifier of `sql` in lower case: bare words, and names in double quotes or backquotes.
pub fn identifiers(sql: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
    let bare = sql.split(|c| !is_part(c)).filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    let quoted = ['"', '`'].into_iter().flat_map(|quote| sql.split(quote).skip(1).step_by(2));
    bare.chain(quoted).filter(|name| !name.is_empty()).map(str::to_lowercase).collect()
}

/// `names` and all names that their definitions use. `definitions` returns the definitions of the objects
/// with the given names.
///
/// # Errors
/// Those of `definitions`.
pub fn with_definitions<E>(
    mut names: BTreeSet<String>,
    mut definitions: impl FnMut(&BTreeSet<String>) -> Result<Vec<String>, E>,
) -> Result<BTreeSet<String>, E> {
    let mut unread = names.clone();
    for _ in 0..DEPTH_MAX {
        if unread.is_empty() {
            break;
        }
        let texts = definitions(&unread)?;
        unread =
            texts.iter().flat_map(|text| identifiers(text)).filter(|name| !names.contains(name)).collect();
        names.extend(unread.iter().cloned());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_lowercased_bare_and_quoted_words() {
        let names = identifiers("SELECT Name FROM shop.\"Order Lines\" JOIN `a b` ON x1 = 1e5 -- t2");
        let expected = ["select", "name", "from", "shop", "order lines", "order", "lines", "a b", "x1", "t2"];
        assert!(expected.iter().all(|&name| names.contains(name)), "{names:?}");
        assert!(!names.contains("1e5"));
        assert!(!names.contains(""));
    }

    #[test]
    fn definitions_are_followed_recursively_despite_cycles() {
        let texts = |names: &BTreeSet<String>| {
            let catalog =
                [("pay", "UPDATE balances"), ("balances", "SELECT * FROM accounts"), ("accounts", "pay")];
            let objects = catalog.iter().filter(|(name, _)| names.contains(*name));
            Ok::<_, ()>(objects.map(|(_, text)| (*text).to_owned()).collect())
        };
        let names = with_definitions(identifiers("CALL pay(1)"), texts).unwrap();
        assert!(names.contains("accounts"), "{names:?}");
        assert!(names.contains("balances"), "{names:?}");
    }
}
