//! Settings of the step by name, as a C host says them.

use super::error::{DrystoneResult, Failure, done};
use super::sized::put;
use super::stepper::{DrystoneStepper, with};
use std::ffi::{CStr, c_char};

/// # Safety
/// `name` is NULL or ends with a 0.
pub(super) unsafe fn text<'a>(name: *const c_char) -> Result<&'a str, Failure> {
    if name.is_null() {
        return Err(Failure::pointer("name", true));
    }
    // SAFETY: this function's contract.
    let text = unsafe { CStr::from_ptr(name) };
    text.to_str().map_err(|_| Failure::value(format!("the name `{}` is not UTF-8", text.to_string_lossy())))
}

/// Sets a setting of the step by its name, such as "iterations"; switches take 0 or 1. The solver comes before its
/// numbers.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_set_setting(
    stepper: *mut DrystoneStepper,
    name: *const c_char,
    value: f64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let name = text(name)?;
        with(stepper, |inside| {
            let mut settings = *inside.backend.settings();
            settings.set(name, value)?;
            Ok(inside.backend.set_settings(settings)?)
        })
    })
}

/// A setting of the step by its name.
///
/// # Safety
/// As at the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drystone_setting(
    stepper: *const DrystoneStepper,
    name: *const c_char,
    value: *mut f64,
) -> DrystoneResult {
    // SAFETY: this function's contract.
    done(|| unsafe {
        let name = text(name)?;
        let found = with(stepper, |inside| {
            let mut settings = *inside.backend.settings();
            if let Some((_, value)) = settings.named().find(|(known, _)| *known == name) {
                return Ok(value);
            }
            // The engine has words for one that is not there.
            settings.set(name, 0.0)?;
            Err(Failure::value(format!("there is no setting `{name}`")))
        })?;
        put("value", value, found)
    })
}
