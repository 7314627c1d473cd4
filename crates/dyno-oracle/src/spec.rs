//! The description of Oracle for plans.

use dyno_plan::Commit;
use dyno_plan::engine::{EngineSpec, UrlForm, UrlParameterWords};

/// What a plan needs to know about Oracle.
pub const SPEC: EngineSpec = EngineSpec {
    product: "Oracle",
    examples: &["oracle://USER@HOST:PORT/SERVICE"],
    words: &[
        UrlParameterWords::exact("protocol", &["tcp", "tcps"]),
        UrlParameterWords::exact("server", &["dedicated", "shared", "pooled"]),
        UrlParameterWords::exact("index-logging", &["on", "off"]),
    ],
    commits: &[Commit::Nowait, Commit::Plsql],
    awr: true,
    copies_schemas: true,
    publishing: "Oracle's licence asks for its consent before results of benchmarks are published",
    ..EngineSpec::plain("oracle", UrlForm::Server, "oracle://dyno@localhost:1521/FREEPDB1")
};
