//! Errors of the Vulkan backend. Every `VkResult` is mapped here and nowhere else.

use super::requirements::Missing;
use ash::vk;

/// What went wrong on Vulkan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader: {0}; install one (Debian: `apt install libvulkan1 mesa-vulkan-drivers`), or use the CPU backend"
    )]
    NoLoader(String),
    /// The loader found no device.
    #[error("no Vulkan device{}; install a driver (Debian: `apt install mesa-vulkan-drivers`), or use the CPU backend", .0.as_ref().map(|n| format!(" whose name contains `{n}`")).unwrap_or_default())]
    NoDevice(Option<String>),
    /// A device lacks something the kernels need.
    #[error("device `{device}` cannot run the kernels, it lacks: {}", list(.missing))]
    Unsupported {
        /// The device.
        device: String,
        /// What it lacks.
        missing: Vec<Missing>,
    },
    /// A layer was asked for that is not installed.
    #[error("the layer {0} is not installed (Debian: `apt install vulkan-validationlayers`)")]
    NoLayer(&'static str),
    /// A buffer is larger than the device lets a shader see at once.
    #[error(
        "buffer `{buffer}` has {size} bytes, but `{device}` binds at most {limit} (maxStorageBufferRange); use a smaller world or another device"
    )]
    BindingTooLarge {
        /// The buffer.
        buffer: String,
        /// Its bytes.
        size: u64,
        /// The device's limit.
        limit: u64,
        /// The device.
        device: String,
    },
    /// The recording needs more memory than the device has.
    #[error(
        "recording `{recording}` needs {needed} bytes, `{device}` has {available}; use a smaller world or another device"
    )]
    WorldTooLarge {
        /// The recording.
        recording: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes of the device's largest heap.
        available: u64,
        /// The device.
        device: String,
    },
    /// An allocation failed.
    #[error("no device memory for `{buffer}` ({size} bytes): {why}")]
    OutOfMemory {
        /// What it was for.
        buffer: String,
        /// Bytes.
        size: u64,
        /// The allocator's words.
        why: String,
    },
    /// The device stopped working. Nothing made from it can be used any more; rebuild from a snapshot.
    #[error(
        "the device was lost during {0}: nothing made from it can be used any more; open it again, and go on from the last \
         snapshot that was taken"
    )]
    DeviceLost(&'static str),
    /// A step was prepared while the maximum number of frames is pending.
    #[error(
        "{pending} frames are pending, and at most {in_flight} may be; the device was said to be through with frame \
         {completed}: wait for a later one, or ask for more frames in flight"
    )]
    FrameInFlight {
        /// Frames that are pending.
        pending: u64,
        /// Largest number of frames that may be pending.
        in_flight: u64,
        /// The last frame that the host reported as finished.
        completed: u64,
    },
    /// A stepper, or a program, was to have no frame in flight, or too many.
    #[error("{frames} frames in flight: there must be 1 to {most}")]
    FramesInFlight {
        /// What was asked for.
        frames: u32,
        /// The largest number.
        most: u32,
    },
    /// A host's chain of feature structs has no struct for a feature that the kernels need.
    #[error(
        "the chain of features has no struct with {0}; add VkPhysicalDeviceVulkan12Features, or those of \
         `vulkan::required_features`"
    )]
    FeatureChain(String),
    /// Buffers cannot be shared with a queue family that the device does not have.
    #[error("there is no queue family {family} to share buffers with: the device has {there}")]
    QueueFamily {
        /// The family that was named.
        family: u32,
        /// Families that the device has.
        there: u32,
    },
    /// Poses cannot be written into a buffer of the host's as it was described.
    #[error("the buffer for poses: {0}")]
    PoseTarget(String),
    /// A wait took longer than it was allowed to.
    #[error("{what} did not finish within {seconds} s")]
    TimedOut {
        /// What was waited for.
        what: &'static str,
        /// For how long.
        seconds: f32,
    },
    /// Any other failed Vulkan call.
    #[error("{call} failed: {result}")]
    Call {
        /// The Vulkan call.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

fn list(missing: &[Missing]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Names the call that a `VkResult` came from.
pub(super) trait During<T> {
    fn during(self, call: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for Result<T, vk::Result> {
    fn during(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|result| match result {
            vk::Result::ERROR_DEVICE_LOST => Error::DeviceLost(call),
            result => Error::Call { call, result },
        })
    }
}
