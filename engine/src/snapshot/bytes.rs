//! Bytes of a snapshot: little-endian, one value behind the other, and a checksum over all of them.

use super::SnapshotError;
use crate::glam::{DMat3, DVec3, Quat, Vec3};

/// Appends values.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

/// A method for every kind of number.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {
        impl Writer {
            $(pub fn $name(&mut self, value: $type) {
                self.bytes.extend_from_slice(&value.to_le_bytes());
            })*
        }

        impl Reader<'_> {
            $(pub fn $name(&mut self) -> Result<$type, SnapshotError> {
                let mut bytes = [0; size_of::<$type>()];
                bytes.copy_from_slice(self.take(size_of::<$type>())?);
                Ok(<$type>::from_le_bytes(bytes))
            })*
        }
    };
}

numbers!(u8: u8, u32: u32, u64: u64, f32: f32, f64: f64);

impl Writer {
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn bool(&mut self, value: bool) {
        self.u8(value.into());
    }

    pub fn vec3(&mut self, v: Vec3) {
        v.to_array().into_iter().for_each(|v| self.f32(v));
    }

    pub fn quat(&mut self, q: Quat) {
        q.to_array().into_iter().for_each(|v| self.f32(v));
    }

    pub fn dvec3(&mut self, v: DVec3) {
        v.to_array().into_iter().for_each(|v| self.f64(v));
    }

    pub fn dmat3(&mut self, m: DMat3) {
        m.to_cols_array().into_iter().for_each(|v| self.f64(v));
    }

    pub fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.raw(text.as_bytes());
    }

    /// Whether there is a value, and the value.
    pub fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// How many there are, and all of them.
    pub fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut put: impl FnMut(&mut Self, T)) {
        self.u32(items.len() as u32);
        items.for_each(|item| put(self, item));
    }

    pub fn words(&mut self, words: &[u32]) {
        self.list(words.iter(), |w, word| w.u32(*word));
    }
}

/// Reads values from the front. The bytes are not trusted: missing ones are an error, and nothing is allocated for
/// more elements than there are bytes for.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], SnapshotError> {
        let too_short = SnapshotError::Truncated { needed: count as u64, left: self.left() as u64, at: self.at as u64 };
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len()).ok_or(too_short)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub fn bool(&mut self, what: &'static str) -> Result<bool, SnapshotError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(SnapshotError::content(what, format!("{value} is neither 0 nor 1"))),
        }
    }

    pub fn vec3(&mut self) -> Result<Vec3, SnapshotError> {
        Ok(Vec3::new(self.f32()?, self.f32()?, self.f32()?))
    }

    pub fn quat(&mut self) -> Result<Quat, SnapshotError> {
        Ok(Quat::from_xyzw(self.f32()?, self.f32()?, self.f32()?, self.f32()?))
    }

    pub fn dvec3(&mut self) -> Result<DVec3, SnapshotError> {
        Ok(DVec3::new(self.f64()?, self.f64()?, self.f64()?))
    }

    pub fn dmat3(&mut self) -> Result<DMat3, SnapshotError> {
        Ok(DMat3::from_cols(self.dvec3()?, self.dvec3()?, self.dvec3()?))
    }

    pub fn text(&mut self, what: &'static str) -> Result<&'a str, SnapshotError> {
        let length = self.u32()?;
        let bytes = self.take(length as usize)?;
        std::str::from_utf8(bytes).map_err(|e| SnapshotError::content(what, format!("it is no UTF-8: {e}")))
    }

    pub fn option<T>(
        &mut self,
        what: &'static str,
        get: impl FnOnce(&mut Self) -> Result<T, SnapshotError>,
    ) -> Result<Option<T>, SnapshotError> {
        if self.bool(what)? { Ok(Some(get(self)?)) } else { Ok(None) }
    }

    /// As many items as are announced, each of at least `least` bytes.
    pub fn list<T>(
        &mut self,
        least: usize,
        mut get: impl FnMut(&mut Self) -> Result<T, SnapshotError>,
    ) -> Result<Vec<T>, SnapshotError> {
        let count = self.u32()? as usize;
        let needed = count.saturating_mul(least);
        if needed > self.left() {
            let (needed, left, at) = (needed as u64, self.left() as u64, self.at as u64);
            return Err(SnapshotError::Truncated { needed, left, at });
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(get(self)?);
        }
        Ok(items)
    }

    pub fn words(&mut self) -> Result<Vec<u32>, SnapshotError> {
        self.list(4, Self::u32)
    }
}

/// A checksum of 64 bits. Every step is a bijection of the word it takes in, so that a change within one word is always
/// seen; four lanes, because a multiplication waits for the one before it.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |h: u64, word: u64| {
        let h = (h ^ word).wrapping_mul(PRIME);
        h ^ (h >> 29)
    };
    let word = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    let mut lanes = [1, 2, 3, 4];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, part) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = mix(*lane, word(part));
        }
    }
    let rest = blocks.remainder().chunks(8).fold(bytes.len() as u64, |h, part| mix(h, word(part)));
    lanes.into_iter().fold(rest, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        let mut w = Writer::default();
        w.u8(7);
        w.u64(1 << 40);
        w.f32(-0.0);
        w.quat(Quat::from_xyzw(1.0, 2.0, 3.0, 4.0));
        w.text("stone");
        w.option(Some(3), Writer::u32);
        w.option(None, Writer::u32);
        w.words(&[5, 6]);
        let bytes = w.finish();
        let r = &mut Reader::new(&bytes);
        assert_eq!((r.u8().unwrap(), r.u64().unwrap(), r.f32().unwrap().to_bits()), (7, 1 << 40, 1 << 31));
        assert_eq!(r.quat().unwrap(), Quat::from_xyzw(1.0, 2.0, 3.0, 4.0));
        assert_eq!(r.text("text").unwrap(), "stone");
        assert_eq!(r.option("some", Reader::u32).unwrap(), Some(3));
        assert_eq!(r.option("none", Reader::u32).unwrap(), None);
        assert_eq!(r.words().unwrap(), [5, 6]);
        assert_eq!(r.left(), 0);
        assert!(matches!(r.u8(), Err(SnapshotError::Truncated { .. })));
    }

    #[test]
    fn a_length_that_is_not_there_allocates_nothing() {
        let bytes = u32::MAX.to_le_bytes();
        assert!(matches!(Reader::new(&bytes).words(), Err(SnapshotError::Truncated { .. })));
        assert!(matches!(Reader::new(&bytes).text("text"), Err(SnapshotError::Truncated { .. })));
    }

    #[test]
    fn every_flipped_bit_changes_the_checksum() {
        let mut bytes: Vec<u8> = (0..117).map(|i| (i * 31) as u8).collect();
        let right = checksum(&bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&bytes), right, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..bytes.len() {
            assert_ne!(checksum(&bytes[..length]), right);
        }
    }
}
