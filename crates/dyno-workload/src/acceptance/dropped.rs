//! Step 10: drops the objects of the acceptance test and nothing else.

use dyno_engine::{DataState, DropItem, Target, TargetError};
use dyno_record::AcceptanceFinding;

use super::{proved, scratch, wrong};

/// Drops all objects of Dyno; `foreign` lists objects of others that existed before.
pub(super) fn dropped(target: &dyn Target, foreign: &[DropItem]) -> Vec<AcceptanceFinding> {
    let drop_all = || -> Result<_, TargetError> {
        scratch::remove(target)?;
        let data = target.block_data()?;
        Ok((data.drop_all()?.len(), data.survey()?, data.foreign()?))
    };
    let (items, state, left) = match drop_all() {
        Ok(found) => found,
        Err(error) => return vec![wrong("drop", error.message).way_out("dyno drop")],
    };
    let mut findings = vec![match state {
        DataState::Empty => {
            proved("drop", format!("{items} objects were dropped, and no data of Dyno is left"))
                .figure("objects", items as i64)
        }
        _ => wrong("drop", format!("{items} objects were dropped, but data of Dyno still exists"))
            .way_out("dyno drop"),
    }];
    let lost = foreign.iter().filter(|item| !left.contains(item)).count();
    findings.push(match lost {
        0 => proved("foreign", format!("{} objects of others beside Dyno's are untouched", foreign.len())),
        _ => wrong("foreign", format!("{lost} objects of others are missing")),
    });
    findings
}
