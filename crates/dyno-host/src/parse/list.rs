//! Lists of numbers such as `0-3,8`, as the kernel writes CPUs and NUMA nodes (cpuset(7)).

/// How many numbers the list holds; absent when it is not a list.
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
    fn ranges_and_single_numbers() {
        assert_eq!(count("0-3,8\n"), Some(5));
        assert_eq!(count("0"), Some(1));
        assert_eq!(count(""), Some(0));
        assert_eq!(count("3-1"), None);
        assert_eq!(count("a-b"), None);
        assert_eq!(count("0-4294967295"), None);
    }
}
