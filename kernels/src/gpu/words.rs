//! Names and types of the 32-bit words of a buffer's element. Host only; tests use it to compare buffers field by
//! field.

use super::glam::{UVec4, Vec3};

/// The type of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Unsigned: indices, counts, keys, bits.
    U32,
    /// Signed.
    I32,
    /// A float.
    F32,
}

/// A word of an element. Its offset is its place in the list: words lie without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// Names of the fields that lead to it, with points in between: `pose.position.x`. Empty when the element is a
    /// scalar.
    pub path: String,
    /// Its type.
    pub scalar: Scalar,
}

/// Types that lie in buffers, word by word. [`layout!`](macro@crate::layout) implements it for its structs.
pub trait Words {
    /// Every word of an element, in order.
    fn words() -> Vec<Word>;

    /// The same as a field named `field` of something larger.
    fn within(field: &str) -> Vec<Word> {
        let join = |path: &str| if path.is_empty() { field.to_owned() } else { format!("{field}.{path}") };
        Self::words().into_iter().map(|word| Word { path: join(&word.path), ..word }).collect()
    }
}

macro_rules! scalar {
    ($($ty:ty: $scalar:ident),*) => {$(
        impl Words for $ty {
            fn words() -> Vec<Word> {
                vec![Word { path: String::new(), scalar: Scalar::$scalar }]
            }
        }
    )*};
}
scalar!(u32: U32, i32: I32, f32: F32);

impl Words for Vec3 {
    fn words() -> Vec<Word> {
        ["x", "y", "z"].into_iter().flat_map(f32::within).collect()
    }
}

/// Four words of bits. Where they hold floats, the module that packs them has a function that says so.
impl Words for UVec4 {
    fn words() -> Vec<Word> {
        ["x", "y", "z", "w"].into_iter().flat_map(u32::within).collect()
    }
}

impl<T: Words, const N: usize> Words for [T; N] {
    fn words() -> Vec<Word> {
        (0..N).flat_map(|i| T::within(&i.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pose;
    use crate::{STAGES, layout};

    layout! {
        /// One struct in another.
        pub struct Nested {
            /// An integer.
            pub count: u32,
            /// A struct.
            pub pose: Pose,
            /// An array.
            pub pair: [i32; 2],
        }
    }

    #[test]
    fn a_struct_knows_name_and_type_of_every_word() {
        let words: Vec<_> = Nested::words().into_iter().map(|w| (w.path, w.scalar)).collect();
        let names = ["count", "pose.position.x", "pose.position.y", "pose.position.z", "pose.rotation.x"];
        let more = ["pose.rotation.y", "pose.rotation.z", "pose.rotation.s", "pair.0", "pair.1"];
        let expected: Vec<_> = names.into_iter().chain(more).map(|name| (name.to_owned(), kind(name))).collect();
        assert_eq!(words, expected);
        assert_eq!(size_of::<Nested>(), 4 * words.len());
    }

    fn kind(name: &str) -> Scalar {
        match name {
            "count" => Scalar::U32,
            "pair.0" | "pair.1" => Scalar::I32,
            _ => Scalar::F32,
        }
    }

    #[test]
    fn every_word_of_every_binding_is_described() {
        for stage in STAGES {
            for binding in stage.bindings {
                let words = (binding.words)();
                assert_eq!(4 * words.len(), binding.stride as usize, "{} of {}", binding.name, stage.name);
            }
        }
    }
}
