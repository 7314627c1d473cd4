//! What an agent that only observes is asked, and what it answers. Each question is whole in itself: an agent knows nothing of runs.

use dyno_host::far::{Described, FarTime, Place, Reading};
use serde::{Deserialize, Serialize};

use crate::messages::Leader;

/// Places of one question, and bytes of a path.
pub(super) const PLACES_MAX: usize = 16;
const PATH_BYTES_MAX: usize = 4_096;

/// What it is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Look {
    /// What its clock shows.
    Clock,
    /// What its machine is, with these places on it, for whoever leads a run.
    Describe { leader: Leader, places: Vec<Place> },
    /// Its counters, and those of these places.
    Read { places: Vec<Place> },
}

/// What it answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Seen {
    Clock(FarTime),
    Described(Box<Described>),
    Read(Box<Reading>),
    /// It does not, and why.
    Refused(String),
}

/// Whether these can be places, whoever they came from.
pub(super) fn check(places: &[Place]) -> Result<(), String> {
    let is_one = |(name, path): &Place| {
        let is_short = !name.is_empty() && name.len() <= 64 && path.len() <= PATH_BYTES_MAX;
        is_short && name.bytes().all(|byte| byte.is_ascii_graphic()) && path.starts_with('/')
    };
    match places.len() <= PLACES_MAX && places.iter().all(is_one) {
        true => Ok(()),
        false => Err("these are no places of a machine".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::coding::{read, written};

    #[test]
    fn places_are_few_short_and_whole() {
        let one = |name: &str, path: &str| check(&[(name.to_owned(), path.to_owned())]);
        assert!(one("data", "/srv/pg").is_ok() && check(&[]).is_ok());
        for (name, path) in [("", "/x"), ("a b", "/x"), ("data", "srv"), ("data", "")] {
            assert!(one(name, path).is_err(), "{name:?} {path:?}");
        }
        assert!(one("data", &format!("/{}", "x".repeat(PATH_BYTES_MAX))).is_err());
        assert!(check(&vec![("data".to_owned(), "/".to_owned()); PLACES_MAX + 1]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
            let _ = read::<Look>(&bytes);
            let _ = read::<Seen>(&bytes);
            let mut torn = written(&Look::Read { places: vec![("data".into(), "/srv".into())] });
            torn.truncate(at);
            torn.extend(bytes);
            let _ = read::<Look>(&torn);
        }
    }
}
