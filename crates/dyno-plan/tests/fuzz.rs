//! Fuzz tests: no reader panics on arbitrary bytes. `PROPTEST_CASES=100000 cargo test -p dyno-plan` runs longer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use dyno_plan::engine::{EngineSpec, Engines, UrlForm};
use dyno_plan::{BlocksOrBytes, Bytes, PlanFile, PlanSource, Rate, TargetUrl, TimeSpan};
use proptest::prelude::*;

/// One engine of each URL form.
const ENGINES: Engines = Engines(&[
    EngineSpec::plain("file", UrlForm::File { write: "write file:PATH" }, "file:x"),
    EngineSpec::plain("server", UrlForm::Server, "server://h/d"),
]);

proptest! {
    #[test]
    fn unit_and_url_parsers_never_panic_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = (text.parse::<BlocksOrBytes>(), text.parse::<Bytes>(), text.parse::<TimeSpan>());
        let _ = (text.parse::<Rate>(), text.parse::<TargetUrl>());
    }

    #[test]
    fn plan_reader_never_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dyno.toml");
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(file) = PlanFile::open(&path) {
            let _ = dyno_plan::read(&PlanSource { file: Some(file), ..PlanSource::of(ENGINES) });
        }
    }
}
