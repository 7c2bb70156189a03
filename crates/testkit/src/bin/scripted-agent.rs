//! A terminal program as agent CLIs are, for tests: see `testkit::scripted`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    waystation_testkit::scripted::main()
}
