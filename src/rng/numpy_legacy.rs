//! NumPy's legacy `RandomState`, which is also behind `np.random.seed` and `np.random.rand`, as NumPy 2.1 has it.

use super::mt19937::Mt19937;
use super::numpy::{self, Dtype, Method};
use super::{Draw, Seed, State};

/// `RandomState`.
#[derive(Clone, Debug)]
pub struct NumpyLegacy {
    words: Mt19937,
}

impl NumpyLegacy {
    /// `seed(int)`.
    pub fn new(seed: u32) -> Self {
        Self { words: Mt19937::from_seed(seed) }
    }

    /// `seed(list)`: the list as it is, even of one word.
    ///
    /// # Panics
    ///
    /// Where the list is empty: NumPy refuses it.
    pub fn from_array(seed: &[u32]) -> Self {
        Self { words: Mt19937::from_array(seed) }
    }

    /// Seeded with an integer's low 32 bits, or with a list.
    pub fn seeded(seed: &Seed) -> Self {
        match seed {
            Seed::Int(seed) => Self::new(*seed as u32),
            Seed::Words(words) => Self::from_array(words),
        }
    }

    /// The generator's words.
    pub fn words(&self) -> &Mt19937 {
        &self.words
    }

    /// One 32-bit word.
    pub fn next_u32(&mut self) -> u32 {
        self.words.next_u32()
    }

    /// `random_sample()`, `rand()`.
    pub fn random_sample(&mut self) -> f64 {
        self.words.next_f64()
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random_sample()
    }

    /// `randint(low, high, size=n, dtype=dtype)`; see [`numpy::integers`].
    pub fn randint(&mut self, dtype: Dtype, low: i128, high: i128, n: usize) -> Vec<i128> {
        numpy::integers(&mut self.words, Method::Masked, dtype, low, high, n)
    }

    /// `shuffle(values)`.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        numpy::shuffle(&mut self.words, values);
    }

    /// `permutation(n)`, `n` < 2^32.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        self.shuffle(&mut order);
        order
    }

    /// `choice(population, n, replace=True)`.
    pub fn choice(&mut self, population: u64, n: usize) -> Vec<u64> {
        let chosen = self.randint(Dtype::Bits64, 0, i128::from(population), n);
        chosen.into_iter().map(|value| value as u64).collect()
    }

    /// `choice(population, n, replace=False)`, `population` < 2^32: shuffles them all.
    pub fn choice_without_replacement(&mut self, population: usize, n: usize) -> Vec<u32> {
        let mut order = self.permutation(population);
        order.truncate(n);
        order
    }

    /// `choice(len(p), n, p=p)`, with replacement.
    pub fn choice_weighted(&mut self, p: &[f64], n: usize) -> Vec<usize> {
        let mut sums: Vec<f64> = p
            .iter()
            .scan(0.0, |sum, &weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(1.0);
        for sum in &mut sums {
            *sum /= total;
        }
        (0..n)
            .map(|_| {
                let at = self.random_sample();
                sums.partition_point(|&sum| sum <= at)
            })
            .collect()
    }
}

impl Draw for NumpyLegacy {
    fn below(&mut self, n: u32) -> u32 {
        Method::Masked.bounded32(&mut self.words, n - 1)
    }

    fn coin(&mut self, p: f64) -> bool {
        self.random_sample() < p
    }

    fn permutation4(&mut self) -> [u8; 4] {
        let mut order = [0, 1, 2, 3];
        self.shuffle(&mut order);
        order
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low, high)
    }

    fn state(&self) -> State {
        self.words.state()
    }
}
