//! Chance that can be had again: SplitMix64 from a seed.

#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end` - 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    /// Every order is as likely as another.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..=items.len()).rev() {
            let one = usize::try_from(self.below(end as u64)).unwrap();
            items.swap(one, end - 1);
        }
    }
}
