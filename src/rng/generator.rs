//! Any of the generators that a pipeline can draw from.

use super::chacha::{self, ChaCha};
use super::mt19937;
use super::numpy::BitGenerator;
use super::numpy_generator::NumpyGenerator;
use super::numpy_legacy::NumpyLegacy;
use super::pcg64::Pcg64;
use super::python::Python;
use super::torch::Torch;
use super::{Draw, Kind, Seed, State};

/// A generator; a clone is a bit copy, as `fork` makes it.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a process holds few, and the largest is the default, drawn from most")]
pub enum Generator {
    /// `--rng chacha`.
    ChaCha(ChaCha),
    /// `--rng torch`: torch's CPU generator.
    Torch(Torch),
    /// NumPy's `RandomState`, and its global generator.
    NumpyLegacy(NumpyLegacy),
    /// NumPy's `default_rng()`.
    NumpyGenerator(NumpyGenerator<Pcg64>),
    /// Python's `random.Random`, and its global generator.
    Python(Python),
}

impl Generator {
    /// A generator of `kind`, seeded.
    pub fn new(kind: Kind, seed: &Seed) -> Self {
        match kind {
            Kind::ChaCha => Self::ChaCha(ChaCha::seeded(seed)),
            Kind::Torch => Self::Torch(Torch::seeded(seed)),
            Kind::NumpyLegacy => Self::NumpyLegacy(NumpyLegacy::seeded(seed)),
            Kind::NumpyGenerator => Self::NumpyGenerator(NumpyGenerator::default_rng(seed)),
            Kind::Python => Self::Python(Python::seeded(seed)),
        }
    }

    /// Which library holds it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::ChaCha(_) => Kind::ChaCha,
            Self::Torch(_) => Kind::Torch,
            Self::NumpyLegacy(_) => Kind::NumpyLegacy,
            Self::NumpyGenerator(_) => Kind::NumpyGenerator,
            Self::Python(_) => Kind::Python,
        }
    }

    /// The algorithm's name in traces.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::ChaCha(_) => chacha::ALGORITHM,
            Self::Torch(_) | Self::NumpyLegacy(_) | Self::Python(_) => mt19937::ALGORITHM,
            Self::NumpyGenerator(generator) => generator.bits().algorithm(),
        }
    }

    fn draws(&mut self) -> &mut dyn Draw {
        match self {
            Self::ChaCha(generator) => generator,
            Self::Torch(generator) => generator,
            Self::NumpyLegacy(generator) => generator,
            Self::NumpyGenerator(generator) => generator,
            Self::Python(generator) => generator,
        }
    }
}

impl Draw for Generator {
    fn below(&mut self, n: u32) -> u32 {
        self.draws().below(n)
    }

    fn coin(&mut self, p: f64) -> bool {
        self.draws().coin(p)
    }

    fn permutation4(&mut self) -> [u8; 4] {
        self.draws().permutation4()
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.draws().uniform(low, high)
    }

    fn state(&self) -> State {
        match self {
            Self::ChaCha(generator) => generator.state(),
            Self::Torch(generator) => generator.state(),
            Self::NumpyLegacy(generator) => generator.state(),
            Self::NumpyGenerator(generator) => generator.state(),
            Self::Python(generator) => generator.state(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws as a pipeline makes them, and then the state, each printed: floats as bits.
    fn drawn(kind: Kind) -> String {
        let mut generator = Generator::new(kind, &Seed::from(42));
        let (crop, fits) = (generator.below(9), generator.below(1));
        let coin = generator.coin(0.3);
        let order = generator.permutation4();
        let factors =
            [generator.uniform(0.6, 1.4), generator.uniform(-0.1, 0.1)].map(|x| format!("{:016x}", x.to_bits()));
        let State { key, position } = generator.state();
        format!("{crop} {fits} {coin} {order:?} {} {} {key}:{position}", factors[0], factors[1])
    }

    // The expected values of the next four are from the real libraries (torch 2.15, NumPy 2.1.3, CPython 3.11), each
    // seeded with 42: a whole number below 9, one below 1, a coin of 0.3, a permutation of four, a float in
    // [0.6, 1.4) and one in [-0.1, 0.1); then SHA-256 over the state that the library itself gives.

    /// `torch.randint`, `torch.rand(1) < p`, `torch.randperm(4)`, `Tensor.uniform_`.
    #[test]
    fn torch_draws_as_a_pipeline_of_torch_does() {
        let expected = "6 0 false [2, 1, 3, 0] 3fe9c4ac60000000 3fae11a1a0000000 ab65d7eb5ea7688647f3a669b3cec2a8:8";
        assert_eq!(drawn(Kind::Torch), expected);
    }

    /// `RandomState`: `randint`, `random_sample() < p`, `permutation(4)`, `uniform`.
    #[test]
    fn a_random_state_draws_as_numpys() {
        let expected = "6 0 false [0, 1, 3, 2] 3ff14348bc27ab79 bfb19ca1e9f258ff ab65d7eb5ea7688647f3a669b3cec2a8:10";
        assert_eq!(drawn(Kind::NumpyLegacy), expected);
    }

    /// `default_rng`: `integers`, `random() < p`, `permutation(4)`, `uniform`.
    #[test]
    fn a_numpy_generator_draws_as_numpys() {
        let expected = "0 0 false [3, 2, 0, 1] 3ff286bc4d8119a0 bfb4c732dbc27c1a b487156cc9645811e8e10021775fa9a1:0";
        assert_eq!(drawn(Kind::NumpyGenerator), expected);
    }

    /// `random.Random`: `randrange`, `random() < p`, `shuffle` of [0, 1, 2, 3], `uniform`.
    #[test]
    fn python_draws_as_pythons_random() {
        let expected = "1 0 false [3, 2, 0, 1] 3ff306de6e9061cc 3fa218122fe16b88 e7e362c33a97c670cb425c5b65c18604:12";
        assert_eq!(drawn(Kind::Python), expected);
    }

    #[test]
    fn a_clone_goes_on_as_the_original() {
        for kind in [Kind::ChaCha, Kind::Torch, Kind::NumpyLegacy, Kind::NumpyGenerator, Kind::Python] {
            let mut generator = Generator::new(kind, &Seed::from(7));
            generator.uniform(0.0, 1.0);
            let mut copy = generator.clone();
            assert_eq!(copy.kind(), kind);
            let next = |generator: &mut Generator| (0..700).map(|_| generator.below(1000)).collect::<Vec<_>>();
            assert_eq!(next(&mut generator), next(&mut copy));
            assert_eq!(generator.state(), copy.state());
        }
    }
}
