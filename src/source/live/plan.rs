//! The runs of one check as data: what is run, what varies, and why. `--dry-run` prints it.
//!
//! ```text
//! A  as is ──► B  again, with what must not matter varied ──► on suspicion: one more run for each
//! ```
//!
//! Run A changes nothing that the program can see of its environment but what makes the recorder work: also
//! `PYTHONHASHSEED` stays unset where the user did not set it, since ranks and spawned workers that draw hash seeds of
//! their own then show what that does to them. Run B sets it, and permutes the order in which folders are listed. (Set
//! in both, equal in all processes, it would hide that from both.)

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;

use crate::trace::Run;

/// The hash seed of the second run: any but 0, which turns hashing's randomness off.
const HASH_SEED: &str = "1";

/// The seed of the permutation of folder listings.
const LISTING_SEED: &str = "1";

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// What the program does as it stands.
    AsIs,
    /// Whether another run delivers the same.
    Again,
    /// Whether a difference comes from the listing order alone.
    ListingHeld,
    /// What another worker count does.
    Workers(u32),
}

impl Purpose {
    /// The arm's name in findings.
    pub fn name(self) -> String {
        match self {
            Self::AsIs => "as is".to_owned(),
            Self::Again => "again".to_owned(),
            Self::ListingHeld => "again, listing order held".to_owned(),
            Self::Workers(1) => "1 worker".to_owned(),
            Self::Workers(workers) => format!("{workers} workers"),
        }
    }
}

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Its letter, which also names its trace folder.
    pub letter: char,
    /// What it is for.
    pub purpose: Purpose,
    /// Variables that only this run has.
    pub environment: BTreeMap<String, String>,
}

impl Arm {
    /// Its name in findings.
    pub fn name(&self) -> String {
        self.purpose.name()
    }
}

/// Why and how it is run, in one line.
impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.purpose {
            Purpose::AsIs => f.write_str("as is: what the loaders draw and deliver")?,
            Purpose::Again => f.write_str("again: do two runs deliver the same")?,
            Purpose::ListingHeld => {
                f.write_str("again, listing order held: does the listing order make the difference")?;
            }
            Purpose::Workers(_) => {
                write!(f, "{}: do samples repeat with more workers, do outputs change", self.name())?;
            }
        }
        let varied: Vec<String> = self.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if varied.is_empty() { Ok(()) } else { write!(f, " ({})", varied.join(", ")) }
    }
}

/// What the first two runs made suspicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspicion {
    /// The two differ.
    RunsDiffer,
    /// Another worker count is worth a run; it is this one.
    WorkerCount(u32),
}

/// The runs of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The runs that are always made, in order.
    pub always: Vec<Arm>,
    /// Whether the second run varies the hash seed, which the user may have set.
    pub varies_hash_seed: bool,
    /// Whether another worker count is tried for datasets of any kind.
    pub thorough: bool,
    /// Limits of every run, in words.
    pub limits: String,
}

impl Plan {
    /// The plan of a check. `hash_seed` is the user's `PYTHONHASHSEED`.
    pub fn new(hash_seed: Option<&OsStr>, thorough: bool, limits: String) -> Self {
        let varies_hash_seed = hash_seed.is_none_or(|seed| seed.is_empty() || seed == "random");
        let mut plan = Self { always: Vec::new(), varies_hash_seed, thorough, limits };
        for (letter, purpose) in [('a', Purpose::AsIs), ('b', Purpose::Again)] {
            plan.always.push(plan.arm(letter, purpose));
        }
        plan
    }

    /// The plan of one recorded run.
    pub fn single(limits: String) -> Self {
        let mut plan = Self::new(None, false, limits);
        plan.always.truncate(1);
        plan
    }

    /// The run that answers a suspicion. `letter` is the next one.
    pub fn answer(&self, suspicion: Suspicion, letter: char) -> Arm {
        match suspicion {
            Suspicion::RunsDiffer => self.arm(letter, Purpose::ListingHeld),
            Suspicion::WorkerCount(workers) => self.arm(letter, Purpose::Workers(workers)),
        }
    }

    fn arm(&self, letter: char, purpose: Purpose) -> Arm {
        let mut environment = BTreeMap::new();
        let mut set = |name: &str, value: &str| environment.insert(name.to_owned(), value.to_owned());
        if matches!(purpose, Purpose::Again | Purpose::ListingHeld) && self.varies_hash_seed {
            set("PYTHONHASHSEED", HASH_SEED);
        }
        match purpose {
            Purpose::Again => {
                set("PIPEAUDIT_LISTING_SEED", LISTING_SEED);
            }
            Purpose::Workers(workers) => {
                set("PIPEAUDIT_WORKERS", &workers.to_string());
            }
            Purpose::AsIs | Purpose::ListingHeld => {}
        }
        Arm { letter, purpose, environment }
    }

    /// What a first run suggests to look into, given whether the second one differs from it.
    pub fn suspicions(&self, first: &Run, differs: bool) -> Vec<Suspicion> {
        let mut suspicions = Vec::new();
        if differs {
            suspicions.push(Suspicion::RunsDiffer);
        }
        let suspect = |kind: &str| self.thorough || kind == "iterable";
        let workers = first
            .loaders
            .iter()
            .filter(|loader| loader.num_workers > 0 && suspect(&loader.kind))
            .map(|loader| loader.num_workers)
            .max();
        // Fewer workers cost less; one worker can only be compared with more. None at all is out of the question:
        // options such as persistent workers refuse it.
        suspicions.extend(workers.map(|workers| Suspicion::WorkerCount(if workers == 1 { 2 } else { workers / 2 })));
        suspicions
    }
}

/// What `--dry-run` prints.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for arm in &self.always {
            writeln!(f, "{}  {arm}", arm.letter.to_ascii_uppercase())?;
        }
        if self.always.len() > 1 {
            writeln!(f, "on suspicion:")?;
            writeln!(f, "-  where A and B differ: {}", self.arm('c', Purpose::ListingHeld))?;
            let which = if self.thorough { "loaders with workers" } else { "iterable datasets with workers" };
            writeln!(
                f,
                "-  for {which}: half as many workers (2 where there is 1): do samples repeat, do outputs change"
            )?;
        }
        writeln!(f, "each run: {}", self.limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::record::Loader;

    fn plan(hash_seed: Option<&str>) -> Plan {
        Plan::new(hash_seed.map(OsStr::new), false, "2 epochs".to_owned())
    }

    fn run(loaders: &[(&str, u32)]) -> Run {
        let loaders = loaders
            .iter()
            .map(|&(kind, num_workers)| Loader { kind: kind.to_owned(), num_workers, ..Loader::default() })
            .collect();
        Run { loaders, ..Run::default() }
    }

    #[test]
    fn the_first_run_sees_the_users_environment() {
        assert!(plan(None).always[0].environment.is_empty());
        assert!(plan(Some("3")).always[0].environment.is_empty());
    }

    #[test]
    fn the_second_run_varies_the_hash_seed_unless_the_user_set_it() {
        for unset in [None, Some(""), Some("random")] {
            assert_eq!(plan(unset).always[1].environment["PYTHONHASHSEED"], "1");
        }
        for set in ["0", "1", "7"] {
            assert!(!plan(Some(set)).always[1].environment.contains_key("PYTHONHASHSEED"));
        }
        assert!(plan(Some("0")).always[1].environment.contains_key("PIPEAUDIT_LISTING_SEED"));
    }

    #[test]
    fn a_difference_is_tried_again_with_the_listing_order_alone_held() {
        let plan = plan(None);
        let suspicions = plan.suspicions(&run(&[("map", 2)]), true);
        assert_eq!(suspicions, [Suspicion::RunsDiffer]);
        let mut environment = plan.answer(suspicions[0], 'c').environment;
        assert_eq!(environment.insert("PIPEAUDIT_LISTING_SEED".to_owned(), "1".to_owned()), None);
        assert_eq!(environment, plan.always[1].environment);
    }

    #[test]
    fn another_worker_count_is_tried_for_iterable_datasets_only_unless_thorough() {
        let mut plan = plan(None);
        assert_eq!(plan.suspicions(&run(&[("map", 4)]), false), []);
        assert_eq!(plan.suspicions(&run(&[("iterable", 0)]), false), []);
        assert_eq!(plan.suspicions(&run(&[("map", 8), ("iterable", 4)]), false), [Suspicion::WorkerCount(2)]);
        assert_eq!(plan.suspicions(&run(&[("iterable", 3)]), false), [Suspicion::WorkerCount(1)]);
        assert_eq!(plan.suspicions(&run(&[("iterable", 1)]), false), [Suspicion::WorkerCount(2)]);
        plan.thorough = true;
        assert_eq!(plan.suspicions(&run(&[("map", 4)]), false), [Suspicion::WorkerCount(2)]);
        let arm = plan.answer(Suspicion::WorkerCount(2), 'd');
        assert_eq!((arm.name().as_str(), arm.environment["PIPEAUDIT_WORKERS"].as_str()), ("2 workers", "2"));
        assert!(!arm.environment.contains_key("PYTHONHASHSEED"));
    }

    #[test]
    fn the_plan_can_be_read() {
        insta::assert_snapshot!(plan(None), @r"
        A  as is: what the loaders draw and deliver
        B  again: do two runs deliver the same (PIPEAUDIT_LISTING_SEED=1, PYTHONHASHSEED=1)
        on suspicion:
        -  where A and B differ: again, listing order held: does the listing order make the difference (PYTHONHASHSEED=1)
        -  for iterable datasets with workers: half as many workers (2 where there is 1): do samples repeat, do outputs change
        each run: 2 epochs
        ");
        insta::assert_snapshot!(Plan::single("to its end".to_owned()), @r"
        A  as is: what the loaders draw and deliver
        each run: to its end
        ");
    }
}
