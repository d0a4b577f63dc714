//! Errors as numbers and a text, and the wall that no panic gets over.

use crate::world::WorldError;
use crate::{Error, SettingsError, SnapshotError};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call came to. Negative values are errors; `drystone_last_error` has the words.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneResult {
    /// Done.
    Ok = 0,
    /// There is nothing to be had (yet). Not an error.
    Nothing = 1,
    /// A pointer that has to be there is NULL, or not aligned.
    ErrorPointer = -1,
    /// `struct_size` is not one that this library can make sense of.
    ErrorStructSize = -2,
    /// A value is out of its range, or makes no sense together with others.
    ErrorValue = -3,
    /// The body or joint was removed, or never was.
    ErrorStale = -4,
    /// The device lacks something that the kernels need.
    ErrorUnsupported = -5,
    /// No memory, on the device or on the host, or more than was allowed.
    ErrorOutOfMemory = -6,
    /// The device was lost. Destroy everything that was made from it.
    ErrorDeviceLost = -7,
    /// As many frames are pending as there may be: wait for one.
    ErrorFrameInFlight = -8,
    /// A Vulkan call failed for another reason.
    ErrorVulkan = -9,
    /// Nothing was prepared.
    ErrorNotPrepared = -10,
    /// The stepper has another backend than the call is for.
    ErrorBackend = -11,
    /// A snapshot that is refused, or a frame that is not kept.
    ErrorSnapshot = -12,
    /// A fault in the library. The object it happened in can only be destroyed.
    ErrorPanic = -13,
    /// Anything else.
    ErrorOther = -14,
}

/// An error on its way out.
#[derive(Debug)]
pub(super) struct Failure {
    pub code: DrystoneResult,
    pub text: String,
}

impl Failure {
    pub fn new(code: DrystoneResult, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    /// A pointer that is NULL or not aligned.
    pub fn pointer(name: &str, null: bool) -> Self {
        let what = if null { "NULL" } else { "not aligned as its type asks for" };
        Self::new(DrystoneResult::ErrorPointer, format!("`{name}` is {what}"))
    }

    pub fn value(text: impl Into<String>) -> Self {
        Self::new(DrystoneResult::ErrorValue, text)
    }
}

impl From<WorldError> for Failure {
    fn from(error: WorldError) -> Self {
        let code = match error {
            WorldError::StaleBody { .. }
            | WorldError::StaleJoint { .. }
            | WorldError::ForeignBody { .. }
            | WorldError::ForeignJoint { .. }
            | WorldError::StaleSoft { .. }
            | WorldError::StaleAttachment { .. }
            | WorldError::ForeignSoft { .. }
            | WorldError::ForeignAttachment { .. } => DrystoneResult::ErrorStale,
            _ => DrystoneResult::ErrorValue,
        };
        Self::new(code, error.to_string())
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::value(error.to_string())
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        Self::new(DrystoneResult::ErrorSnapshot, error.to_string())
    }
}

impl From<crate::vulkan::Error> for Failure {
    fn from(error: crate::vulkan::Error) -> Self {
        use crate::vulkan::Error as Vulkan;
        use ash::vk::Result as Code;
        let code = match &error {
            Vulkan::Unsupported { .. } | Vulkan::BindingTooLarge { .. } => DrystoneResult::ErrorUnsupported,
            Vulkan::WorldTooLarge { .. } | Vulkan::OutOfMemory { .. } => DrystoneResult::ErrorOutOfMemory,
            Vulkan::Call { result: Code::ERROR_OUT_OF_DEVICE_MEMORY | Code::ERROR_OUT_OF_HOST_MEMORY, .. } => {
                DrystoneResult::ErrorOutOfMemory
            }
            Vulkan::DeviceLost(_) => DrystoneResult::ErrorDeviceLost,
            Vulkan::FrameInFlight { .. } => DrystoneResult::ErrorFrameInFlight,
            Vulkan::PoseTarget(_) | Vulkan::FramesInFlight { .. } => DrystoneResult::ErrorValue,
            _ => DrystoneResult::ErrorVulkan,
        };
        Self::new(code, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        let code = match error {
            Error::World(error) => return error.into(),
            Error::Settings(error) => return error.into(),
            Error::Snapshot(error) => return error.into(),
            Error::Vulkan(error) => return error.into(),
            Error::OutOfHostMemory { .. } | Error::MemoryLimit { .. } | Error::PairLimit { .. } => {
                DrystoneResult::ErrorOutOfMemory
            }
            Error::TimeStep(_) | Error::Plan(_) | Error::Query(_) => DrystoneResult::ErrorValue,
            _ => DrystoneResult::ErrorOther,
        };
        Self::new(code, text)
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

fn remember(text: &str) {
    // A text with a zero inside would end there.
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    LAST.with_borrow_mut(|last| *last = text);
}

/// Runs what is behind a C function. Errors become numbers, and a panic becomes one, too.
pub(super) fn guard(call: impl FnOnce() -> Result<DrystoneResult, Failure>) -> DrystoneResult {
    // What was being changed when it panicked is behind a lock that is poisoned now, so nobody sees it again.
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(result)) => return result,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let words = panic.downcast_ref::<&str>().copied();
            let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            let text = format!("a fault in drystone: {}", words.unwrap_or("no message"));
            // The payload is somebody else's type, and dropping it could panic again.
            std::mem::forget(panic);
            Failure::new(DrystoneResult::ErrorPanic, text)
        }
    };
    remember(&failure.text);
    failure.code
}

/// The same for calls that only can be done.
pub(super) fn done(call: impl FnOnce() -> Result<(), Failure>) -> DrystoneResult {
    guard(|| call().map(|()| DrystoneResult::Ok))
}

/// What the last error of this thread was, in words. Empty when there was none. It stays valid until the next error
/// on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn drystone_last_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn last() -> String {
        // SAFETY: the text is this thread's, and nothing is called meanwhile.
        unsafe { CStr::from_ptr(drystone_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn nothing_unwinds_out_of_a_call() {
        assert_eq!(last(), "");
        assert_eq!(guard(|| panic!("of {}", 7)), DrystoneResult::ErrorPanic);
        assert_eq!(last(), "a fault in drystone: of 7");
        assert_eq!(guard(|| std::panic::panic_any(7)), DrystoneResult::ErrorPanic);
        assert_eq!(last(), "a fault in drystone: no message");
        assert_eq!(done(|| Err(Failure::value("a\0b"))), DrystoneResult::ErrorValue);
        assert_eq!(last(), "a b");
        assert_eq!(done(|| Ok(())), DrystoneResult::Ok);
        assert_eq!(last(), "a b", "it stays until the next error");
        std::thread::scope(|s| s.spawn(|| assert_eq!(last(), "", "every thread has its own")).join().unwrap());
    }
}
