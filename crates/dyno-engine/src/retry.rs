//! Retries work that the database rolled back because of other transactions.
//!
//! This happens to reads, too: a node of a cluster or a standby interrupts a read whose rows it replaces, and
//! a killed server may still be rolling back an earlier load.

use super::TargetError;

/// How often work that the database rolled back is retried.
pub const RETRIES: u32 = 3;

/// Calls `work` again up to [`RETRIES`] times while its error is retryable and `again` agrees. `again` gets
/// the error and the number of the retry, from 1.
///
/// # Errors
/// The last error of `work`.
pub fn retry<T>(
    mut work: impl FnMut() -> Result<T, TargetError>,
    again: impl Fn(&TargetError, u32) -> bool,
) -> Result<T, TargetError> {
    for retry in 1..=RETRIES {
        match work() {
            Err(error) if error.is_retryable && again(&error, retry) => {}
            outcome => return outcome,
        }
    }
    work()
}

/// Retries a read, which a caller has no reason to break off.
///
/// # Errors
/// The last error of `read`.
pub fn retry_read<T>(read: impl FnMut() -> Result<T, TargetError>) -> Result<T, TargetError> {
    retry(read, |_, _| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_retryable_errors_are_retried_up_to_limit() {
        let error = |is_retryable| TargetError { is_retryable, ..TargetError::database("deadlock (1213)") };
        let times = |failures: u32, is_retryable: bool, agrees: bool| {
            let mut calls = 0;
            let work = || {
                calls += 1;
                if calls > failures { Ok(()) } else { Err(error(is_retryable)) }
            };
            let outcome = retry(work, |_, _| agrees);
            (outcome.is_ok(), calls)
        };
        assert_eq!(times(0, true, true), (true, 1));
        assert_eq!(times(1, true, true), (true, 2));
        assert_eq!(times(99, true, true), (false, 1 + RETRIES));
        assert_eq!(times(1, false, true), (false, 1));
        assert_eq!(times(1, true, false), (false, 1));
    }
}
