//! Ctrl-C and SIGTERM: once asks to stop and keep what was measured, twice ends at once.

use std::sync::Arc;

use dyno_target::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::exit::Exit;

/// Makes both signals ask `cancel`, and end the program when they come again.
pub(crate) fn watch(cancel: &Cancel) -> std::io::Result<()> {
    let flag = cancel.flag();
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the second signal finds the flag that the first has set.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            Exit::Interrupted as i32,
            Arc::clone(&flag),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(())
}
