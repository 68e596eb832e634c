//! The policies of `--init`: what each seeds a worker's generator with.

use std::fmt;
use std::str::FromStr;

use super::{lightning, torch};
use crate::error::Error;
use crate::rng::{Generator, Kind, Seed};

macro_rules! policies {
    ($($(#[$doc:meta])* $policy:ident $name:literal;)*) => {
        /// A policy by which each worker's generator is seeded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Policy {
            $($(#[$doc])* $policy,)*
        }

        impl Policy {
            /// All policies, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$policy,)*];

            /// As it is typed after `--init`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$policy => $name,)* }
            }
        }
    };
}

policies! {
    /// Nothing is seeded: every worker keeps what it was started with.
    None "none";
    /// What torch ≥ 1.9 does by itself: torch and Python with base seed + worker, NumPy with a list made of both.
    Torch "torch";
    /// The run's own seed, in every worker.
    Constant "constant";
    /// The worker's number.
    WorkerId "worker-id";
    /// `(initial_seed + worker) % 2**32`.
    BasePlusWorker "base+worker";
    /// `(initial_seed + epoch * 1000 + worker) % 2**32`.
    Epoch "epoch";
    /// Lightning's `pl_worker_init_function`, with the rank.
    Lightning "lightning";
    /// `seed + epoch + worker`.
    SeedEpochWorker "seed+epoch+worker";
}

/// Where a worker is when its init runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerPlace {
    /// The run's seed (`--seed`).
    pub seed: u64,
    /// The epoch's base seed, drawn by the main process.
    pub base_seed: u64,
    /// The worker's number in its rank.
    pub worker: u32,
    /// The rank.
    pub rank: u32,
    /// The epoch.
    pub epoch: u32,
}

impl WorkerPlace {
    /// `torch.initial_seed()` in the worker: base seed + worker.
    pub fn initial_seed(&self) -> u64 {
        torch::initial_seed(self.base_seed, self.worker)
    }
}

impl Policy {
    /// What the policy seeds a generator of `kind` with at `place`; nothing for `none`.
    ///
    /// Sums wrap at 2^64, and at 2^32 for NumPy's `RandomState`. Where torch and Lightning seed NumPy's global generator
    /// with a list, a NumPy `Generator` becomes `default_rng` of that list.
    pub fn value(self, place: &WorkerPlace, kind: Kind) -> Option<Seed> {
        let WorkerPlace { seed, worker, epoch, .. } = *place;
        let (worker64, epoch64) = (u64::from(worker), u64::from(epoch));
        let low32 = |value: u64| value & u64::from(u32::MAX);
        let int = match self {
            Self::None => return None,
            Self::Torch => return Some(torch_value(place, kind)),
            Self::Lightning => return Some(lightning_value(place, kind)),
            Self::Constant => seed,
            Self::WorkerId => worker64,
            Self::BasePlusWorker => low32(place.initial_seed().wrapping_add(worker64)),
            Self::Epoch => low32(place.initial_seed().wrapping_add(epoch64 * 1000).wrapping_add(worker64)),
            Self::SeedEpochWorker => seed.wrapping_add(epoch64).wrapping_add(worker64),
        };
        // `np.random.seed` takes 32 bits only, so people cut what they hand it.
        Some(Seed::from(if kind == Kind::NumpyLegacy { low32(int) } else { int }))
    }

    /// Seeds `generator` as the policy would in a worker at `place`, and returns the seed as people print it while
    /// debugging (`1234`, `[1, 2, 3, 4]`); `none` leaves the generator as it is.
    pub fn seed(self, place: &WorkerPlace, generator: &mut Generator) -> Option<String> {
        let seed = self.value(place, generator.kind())?;
        *generator = Generator::new(generator.kind(), &seed);
        Some(seed.to_string())
    }
}

fn torch_value(place: &WorkerPlace, kind: Kind) -> Seed {
    match kind {
        Kind::ChaCha | Kind::Torch | Kind::Python => Seed::from(place.initial_seed()),
        Kind::NumpyLegacy | Kind::NumpyGenerator => Seed::Words(torch::generate_state(place.base_seed, place.worker)),
    }
}

fn lightning_value(place: &WorkerPlace, kind: Kind) -> Seed {
    let seeds = lightning::seeds(place.base_seed, place.worker, place.rank);
    match kind {
        // Eight words fill a ChaCha key.
        Kind::ChaCha => Seed::Words(lightning::sequence(place.base_seed, place.worker, place.rank).words(8)),
        Kind::Torch => Seed::from(seeds.torch),
        Kind::NumpyLegacy | Kind::NumpyGenerator => Seed::Words(seeds.numpy),
        Kind::Python => Seed::Int(seeds.python),
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(policy) = Self::ALL.iter().find(|policy| policy.name() == text) {
            return Ok(*policy);
        }
        let names: Vec<&str> = Self::ALL.iter().map(|policy| policy.name()).collect();
        let nearest = names
            .iter()
            .map(|name| (strsim::jaro_winkler(&text.to_lowercase(), name), name))
            .max_by(|left, right| left.0.total_cmp(&right.0));
        let all = format!("the inits are {}", names.join(", "));
        let help = match nearest {
            Some((likeness, name)) if likeness > 0.7 => format!("did you mean `{name}`? {all}"),
            _ => all,
        };
        Err(Error::usage(format!("unknown init `{}`", text.escape_debug())).help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Draw;

    const PLACE: WorkerPlace = WorkerPlace { seed: 42, base_seed: 5_000_000_000, worker: 3, rank: 1, epoch: 2 };

    fn printed(policy: Policy) -> Option<String> {
        policy.value(&PLACE, Kind::ChaCha).map(|seed| seed.to_string())
    }

    #[test]
    fn each_policy_seeds_with_its_formula() {
        assert_eq!(printed(Policy::None), None);
        assert_eq!(printed(Policy::Torch).as_deref(), Some("5000000003"));
        assert_eq!(printed(Policy::Constant).as_deref(), Some("42"));
        assert_eq!(printed(Policy::WorkerId).as_deref(), Some("3"));
        // 5000000006 - 2^32, and with 2000 for the epoch.
        assert_eq!(printed(Policy::BasePlusWorker).as_deref(), Some("705032710"));
        assert_eq!(printed(Policy::Epoch).as_deref(), Some("705034710"));
        assert_eq!(printed(Policy::SeedEpochWorker).as_deref(), Some("47"));
    }

    /// The arithmetic is Python's: `42 + 3`, `(2**33 + 5) % 2**32`; the lists are
    /// `_generate_state(42, 3)` of torch 2.15 and `_generate_seed_sequence(42, 3, 1, 4)` of Lightning 2.6.
    #[test]
    fn each_library_gets_the_seed_that_its_init_would_hand_it() {
        let text = |policy: Policy, place: &WorkerPlace, kind| policy.value(place, kind).unwrap().to_string();
        let place = WorkerPlace { base_seed: 42, ..PLACE };
        for kind in [Kind::Torch, Kind::Python] {
            assert_eq!(text(Policy::Torch, &place, kind), "45");
        }
        for kind in [Kind::NumpyLegacy, Kind::NumpyGenerator] {
            assert_eq!(text(Policy::Torch, &place, kind), "[1846748587, 4073695127, 3009156047, 2451874720]");
        }
        assert_eq!(text(Policy::Lightning, &place, Kind::Torch), "7088521675871129715");
        assert_eq!(text(Policy::Lightning, &place, Kind::Python), "24897347546086611863896305369");
        let large = WorkerPlace { seed: (1 << 33) + 5, ..PLACE };
        assert_eq!(text(Policy::Constant, &large, Kind::NumpyLegacy), "5");
        assert_eq!(text(Policy::Constant, &large, Kind::Python), "8589934597");
    }

    /// `np.random.SeedSequence([2**40, 3, 1]).generate_state(8)`, NumPy 2.1.3.
    #[test]
    fn lightning_fills_a_chacha_key() {
        let place = WorkerPlace { base_seed: 1 << 40, ..PLACE };
        let words = "[2023333997, 1066853411, 4090925193, 2534150127, 1965790511, 3878184701, 3523935861, 2938361280]";
        let mut generator = Generator::new(Kind::ChaCha, &Seed::from(0));
        assert_eq!(Policy::Lightning.seed(&place, &mut generator).as_deref(), Some(words));
    }

    #[test]
    fn seeding_moves_the_generator_to_the_seed_and_none_leaves_it() {
        let fresh = |seed| Generator::new(Kind::ChaCha, &Seed::from(seed)).state();
        let mut generator = Generator::new(Kind::ChaCha, &Seed::from(7));
        assert_eq!(Policy::None.seed(&PLACE, &mut generator), None);
        assert_eq!(generator.state(), fresh(7));
        assert_eq!(Policy::WorkerId.seed(&PLACE, &mut generator).as_deref(), Some("3"));
        assert_eq!(generator.state(), fresh(3));
    }

    #[test]
    fn names_are_read_back() {
        for &policy in Policy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
    }

    #[test]
    fn a_mistyped_name_is_told_the_nearest_and_all() {
        let error = "lightening".parse::<Policy>().unwrap_err();
        assert_eq!(error.message, "unknown init `lightening`");
        assert_eq!(
            error.help.as_deref(),
            Some(
                "did you mean `lightning`? the inits are none, torch, constant, worker-id, base+worker, epoch, \
                 lightning, seed+epoch+worker"
            )
        );
        let far = "\u{1b}zzz".parse::<Policy>().unwrap_err();
        assert_eq!(far.message, "unknown init `\\u{1b}zzz`");
        assert!(far.help.unwrap().starts_with("the inits are none"));
    }
}
