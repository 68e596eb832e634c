//! Audits of real programs: every folder of `fixtures/programs` is a test of the binary as people run it.
//!
//! A program has a `train.py` that knows nothing of pipeaudit and an `expect.toml` that says what must be found. The
//! interpreter is `PIPEAUDIT_PYTHON`, else a `python3` that has torch; `requirements.txt` beside this file pins what
//! the programs import. Without one the tests are ignored, and say why, unless `PIPEAUDIT_REQUIRE_LIVE=1` makes that a
//! failure. A plain run takes the programs that are marked `quick`; `PIPEAUDIT_LIVE=all` takes every one.

mod audited;
mod expect;
mod interpreter;

use libtest_mimic::{Arguments, Failed, Trial};

use expect::Program;
use interpreter::Interpreter;

fn main() {
    let mut arguments = Arguments::from_args();
    // Each program trains with workers of its own: two audits at once would fight for the cores.
    arguments.test_threads.get_or_insert(1);
    let interpreter = Interpreter::find();
    let all = std::env::var("PIPEAUDIT_LIVE").is_ok_and(|which| which == "all");
    let required = std::env::var("PIPEAUDIT_REQUIRE_LIVE").is_ok_and(|value| value == "1");
    let programs = expect::programs();
    let trials = programs.into_iter().map(|program| trial(program, interpreter.as_ref(), all, required)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// The test of a program, or an ignored one that says why.
fn trial(program: Program, interpreter: Result<&Interpreter, &String>, all: bool, required: bool) -> Trial {
    let name = program.name.clone();
    let missing = match interpreter {
        Ok(interpreter) => interpreter.missing(&program.expect.needs),
        Err(reason) => Some(reason.clone()),
    };
    match (missing, interpreter) {
        (Some(reason), _) if required => Trial::test(name, move || Err(Failed::from(reason))),
        (Some(reason), _) => Trial::test(name, || Ok(())).with_kind(reason).with_ignored_flag(true),
        (None, Ok(interpreter)) => {
            let interpreter = interpreter.clone();
            let skipped = !all && !program.expect.quick;
            let trial = Trial::test(name, move || audited::check(&program, &interpreter));
            if skipped { trial.with_kind("PIPEAUDIT_LIVE=all").with_ignored_flag(true) } else { trial }
        }
        (None, Err(_)) => unreachable!("an interpreter that is missing has a reason"),
    }
}
