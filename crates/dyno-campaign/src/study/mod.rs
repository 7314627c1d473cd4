//! Variants of the platform by turns: each is applied, shown to be in force, measured, and reverted.
//!
//! Everything that is changed is noted in a journal on disk before it is changed, and again once it is back. Whoever reads the
//! journal knows what has to be undone: `resume` does that first, whatever ended the process before it.
//!
//! | file | job |
//! | --- | --- |
//! | `order` | what a study is to do: its file with all plans |
//! | `steps` | every command in its order, for who agrees to them |
//! | `journal`, `progress` | what was done, on disk, and what that means |
//! | `command`, `left` | one command; what an earlier process has left running |
//! | `device` | what may be formatted |
//! | `walk` | a study under way |
//! | `leg`, `restore` | one leg: apply, verify, bring the data to its state, measure; and all of it back |
//! | `course` | from one leg to the next |
//! | `concluded` | the conclusion of what was measured |

mod command;
mod concluded;
mod consent;
mod course;
mod device;
mod journal;
mod left;
mod left_over;
mod leg;
mod order;
mod progress;
mod quiet;
mod restore;
mod resumed;
mod steps;
mod walk;

pub use concluded::conclusion;
pub use course::{After, Walked, resume, run};
pub use order::{Order, home};
pub use resumed::{find, latest};
pub use steps::steps;
