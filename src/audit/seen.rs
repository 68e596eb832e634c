//! How many distinct samples there are, by index.

use crate::trace::run::Index;

/// Numbers below this are marked in a bit each.
const MARKED: usize = 1 << 27;

/// Distinct indices: a bit for each number, a sorted list for the others.
#[derive(Default)]
pub struct Seen {
    marks: Vec<u64>,
    marked: u64,
    others: Vec<Index>,
}

impl Seen {
    /// Notes an index.
    pub fn see(&mut self, index: Index) {
        match index {
            Index::Number(number) if number >= 0 && (number as usize) < MARKED => {
                let (word, bit) = (number as usize / 64, 1 << (number % 64));
                if word >= self.marks.len() {
                    self.marks.resize(word + 1, 0);
                }
                self.marked += u64::from(self.marks[word] & bit == 0);
                self.marks[word] |= bit;
            }
            Index::Absent => {}
            other => self.others.push(other),
        }
    }

    /// How many were distinct.
    pub fn distinct(mut self) -> u64 {
        self.others.sort_unstable();
        self.others.dedup();
        self.marked + self.others.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_index_counts_once() {
        let mut seen = Seen::default();
        let numbers = [0, 63, 64, 64, -1, -1, i64::MAX, 0].map(Index::Number);
        for index in numbers.into_iter().chain([Index::Text(3), Index::Text(3), Index::Absent]) {
            seen.see(index);
        }
        assert_eq!(seen.distinct(), 6);
    }
}
