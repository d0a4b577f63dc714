//! Structs of C hosts, which may be from an older or a newer header than this library: each begins with its size.
//!
//! *Read* from a host that knows fewer fields, those behind its last have their default. From one that knows more, what
//! is unknown here must be zero: then the host does not ask for anything that this library cannot do. *Written* to a
//! host, as many fields as both know are filled, and what only the host knows becomes zero.

use super::error::{DrystoneResult, Failure};
use std::mem::MaybeUninit;

/// Longer structs are no structs but a size that was never set.
const LONGEST: usize = 4096;

/// A struct that begins with its size.
///
/// # Safety
/// It is `repr(C)`, its first field is the `u32` with the size, it has no padding behind its last field, and any bytes
/// are a value of it.
pub(super) unsafe trait Struct: Copy {
    /// Its name in C.
    const NAME: &'static str;

    /// Every field as it is when nobody says anything, the size included.
    fn defaults() -> Self;
}

fn check<T: Struct>(name: &str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Failure::pointer(name, pointer.is_null()));
    }
    Ok(())
}

/// # Safety
/// `pointer` is aligned and points to a `u32` at least.
unsafe fn size<T: Struct>(pointer: *const T) -> Result<usize, Failure> {
    // SAFETY: this function's contract.
    let size = unsafe { pointer.cast::<u32>().read() } as usize;
    if !(8..=LONGEST).contains(&size) || !size.is_multiple_of(align_of::<T>()) {
        let text = format!(
            "{}.struct_size is {size}: set it to sizeof({}), {} bytes in this version",
            T::NAME,
            T::NAME,
            size_of::<T>()
        );
        return Err(Failure::new(DrystoneResult::ErrorStructSize, text));
    }
    Ok(size)
}

/// What a host says.
///
/// # Safety
/// `pointer` is NULL or points to as many bytes as its first field says.
pub(super) unsafe fn read<T: Struct>(name: &str, pointer: *const T) -> Result<T, Failure> {
    check(name, pointer)?;
    // SAFETY: this function's contract, and checked above.
    let size = unsafe { size(pointer) }?;
    let own = size_of::<T>();
    if size > own {
        // SAFETY: the bytes are there, as the host says.
        let unknown = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(own), size - own) };
        if let Some(at) = unknown.iter().position(|byte| *byte != 0) {
            let text = format!(
                "{} has {size} bytes and something at byte {}: this library knows {own} bytes of it, and those behind must \
                 be 0; use the header of this library, or a newer library",
                T::NAME,
                own + at
            );
            return Err(Failure::new(DrystoneResult::ErrorStructSize, text));
        }
    }
    let mut value = MaybeUninit::new(T::defaults());
    // SAFETY: both have that many bytes; any bytes are a value (contract of `Struct`).
    let mut value = unsafe {
        pointer.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), size.min(own));
        value.assume_init()
    };
    // SAFETY: the first field is the size. Callers see their own, whatever the host's was.
    unsafe { (&raw mut value).cast::<u32>().write(own as u32) };
    Ok(value)
}

/// The same for a list: all have the size of the first.
///
/// # Safety
/// `pointer` is NULL or points to `count` structs, each of as many bytes as the first field of the first says.
pub(super) unsafe fn read_list<T: Struct>(name: &str, pointer: *const T, count: u32) -> Result<Vec<T>, Failure> {
    if count == 0 {
        return Ok(Vec::new());
    }
    check(name, pointer)?;
    // SAFETY: this function's contract, and checked above.
    let stride = unsafe { size(pointer) }?;
    let item = |i: u32| {
        // SAFETY: there are `count` of them.
        let at = unsafe { pointer.byte_add(stride * i as usize) };
        // SAFETY: as above.
        let found = unsafe { size(at) }?;
        if found != stride {
            let text = format!("{name}[{i}].struct_size is {found}, but {stride} in the first: a list has one size");
            return Err(Failure::new(DrystoneResult::ErrorStructSize, text));
        }
        // SAFETY: as above.
        unsafe { read(name, at) }
    };
    (0..count).map(item).collect()
}

/// Tells a host something.
///
/// # Safety
/// `pointer` is NULL or points to as many bytes as its first field says, to be written.
pub(super) unsafe fn write<T: Struct>(name: &str, pointer: *mut T, value: &T) -> Result<(), Failure> {
    check(name, pointer)?;
    // SAFETY: this function's contract, and checked above.
    unsafe {
        let size = size(pointer)?;
        let both = size.min(size_of::<T>());
        let to = pointer.cast::<u8>();
        (&raw const *value).cast::<u8>().add(4).copy_to_nonoverlapping(to.add(4), both - 4);
        to.add(both).write_bytes(0, size - both);
    }
    Ok(())
}

/// Writes a plain value.
///
/// # Safety
/// `pointer` is NULL or points to a `T`, to be written.
pub(super) unsafe fn put<T>(name: &str, pointer: *mut T, value: T) -> Result<(), Failure> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Failure::pointer(name, pointer.is_null()));
    }
    // SAFETY: this function's contract, and checked above.
    unsafe { pointer.write(value) };
    Ok(())
}

/// As many values as a host says there are.
///
/// # Safety
/// `pointer` is NULL or points to `count` values that nobody writes meanwhile.
pub(super) unsafe fn slice<'a, T>(name: &str, pointer: *const T, count: usize) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Failure::pointer(name, pointer.is_null()));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::value(format!("`{name}` has {count} elements, more than any memory")));
    }
    // SAFETY: this function's contract, and checked above.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}
