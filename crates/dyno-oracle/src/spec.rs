//! Oracle, as plans know it.

use dyno_plan::Commit;
use dyno_plan::engine::{EngineSpec, Form, Words};

/// What a plan has to know of Oracle.
pub const SPEC: EngineSpec = EngineSpec {
    product: "Oracle",
    examples: &["oracle://USER@HOST:PORT/SERVICE"],
    words: &[
        Words::exact("protocol", &["tcp", "tcps"]),
        Words::exact("server", &["dedicated", "shared", "pooled"]),
        Words::exact("index-logging", &["on", "off"]),
    ],
    commits: &[Commit::Nowait, Commit::Plsql],
    awr: true,
    publishing: "Oracle's licence asks for its consent before results of benchmarks are published",
    ..EngineSpec::plain("oracle", Form::Server, "oracle://dyno@localhost:1521/FREEPDB1")
};
