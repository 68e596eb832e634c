//! No false alarm: sound policies over many seeds, and the whole audit each time.

use pipeaudit::audit::{self, Options};
use pipeaudit::seeding::Policy;
use pipeaudit::settings::Check;
use pipeaudit::source::simulate::{Dataset, Silent, Simulation};

use clap::Parser;
use pipeaudit::cli::{Cli, Command};

fn simulation(line: &str) -> Simulation {
    let cli = Cli::parse_from(format!("pipeaudit check {line}").split_whitespace());
    let Some(Command::Check(check)) = cli.command else { panic!("check was typed") };
    Simulation { pixels: false, ..Check::new(&check).unwrap().simulation }
}

#[test]
fn two_hundred_seeds_of_every_sound_policy_and_four_worker_counts_give_no_finding() {
    let dataset = Dataset::embedded(None).unwrap();
    for policy in [Policy::Torch, Policy::BasePlusWorker, Policy::Epoch, Policy::Lightning] {
        for workers in [1, 2, 4, 7] {
            for seed in 0..200 {
                let simulation = simulation(&format!("--init {policy} --workers {workers} --seed {seed}"));
                let run = simulation.run("a", &dataset, &mut Silent).unwrap().run;
                let audited =
                    audit::audit(&run, &Options { alpha: 1e-6, arm: "with init".to_owned(), ..Options::default() });
                assert!(audited.findings.is_empty(), "{policy} {workers} {seed}: {:#?}", audited.findings);
            }
        }
    }
}
