//! Collects the messages of the validation layers. Tests fail on any message.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
/// The same for messages.
pub(super) const LAYER_NAME: &str = "VK_LAYER_KHRONOS_validation";

/// Messages of the validation layers since they were last taken.
#[derive(Clone, Debug, Default)]
pub struct ValidationLog(Arc<Mutex<Vec<String>>>);

impl ValidationLog {
    /// Takes the messages out.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// A messenger that writes into this log.
    ///
    /// # Safety
    /// The log outlives the messenger and does not move (it is boxed by its owner).
    pub(super) unsafe fn messenger(log: *mut Self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            )
            // What the loader says in general (drivers it cannot load) is not about us.
            .message_type(
                vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
            )
            .pfn_user_callback(Some(callback))
            .user_data(log.cast())
    }
}

unsafe extern "system" fn callback(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    log: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data for the duration of the call, and the pointer given in `messenger`.
    let (data, log) = unsafe { (&*data, &*log.cast::<ValidationLog>()) };
    // SAFETY: the message is a valid string for the duration of the call.
    let message = unsafe { data.message_as_c_str() };
    log.push(message.map_or_else(|| "a message without text".to_owned(), |m| m.to_string_lossy().into_owned()));
    vk::FALSE
}
