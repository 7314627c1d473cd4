//! Parses lists of numbers such as `0-3,8`, as the kernel writes CPUs and NUMA nodes (cpuset(7)).

use std::collections::BTreeSet;

/// The numbers of the list, up to a bound that no machine reaches; absent if the text is not a list.
pub(crate) fn numbers(list: &str) -> Option<BTreeSet<u32>> {
    const MOST: u32 = 1 << 16;
    if count(list)? > MOST {
        return None;
    }
    let ranges = list.trim().split(',').filter(|range| !range.is_empty());
    let all = ranges.map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?)
    });
    Some(all.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// How many numbers the list holds; absent if the text is not a list.
pub(crate) fn count(list: &str) -> Option<u32> {
    let list = list.trim();
    if list.is_empty() {
        return Some(0);
    }
    list.split(',').try_fold(0u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_list_parses_ranges_and_single_numbers() {
        assert_eq!(count("0-3,8\n"), Some(5));
        assert_eq!(count("0"), Some(1));
        assert_eq!(count(""), Some(0));
        assert_eq!(count("3-1"), None);
        assert_eq!(count("a-b"), None);
        assert_eq!(count("0-4294967295"), None);
        assert_eq!(numbers("0-2,8\n").unwrap().into_iter().collect::<Vec<_>>(), [0, 1, 2, 8]);
        assert_eq!(
            (numbers("").map(|none| none.len()), numbers("0-70000"), numbers("x")),
            (Some(0), None, None)
        );
    }
}
