//! A fast hash of descriptions, which are a few hundred words: each word goes into the state by both halves of a 128-bit product, as in the
//! wyhash family. It does not withstand an adversary who chooses colliding descriptions, so tables hash its result once more.

use std::hash::Hasher;

/// An odd number with about as many ones as zeros: the golden ratio's.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The state of the hash.
#[derive(Clone, Debug)]
pub struct Mixer(u64);

impl Default for Mixer {
    fn default() -> Mixer {
        Mixer(FACTOR)
    }
}

impl Mixer {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ word) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(last));
        }
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.mix(n.into());
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.mix(n.into());
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }
}
