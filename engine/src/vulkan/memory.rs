//! Device memory for buffers: from the host's own allocator through the trait [`Memory`], or from gpu-allocator.

use super::error::Error;
use ash::vk;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// Where memory must lie, by its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// By the device only.
    Device,
    /// Written by the host, read by the device.
    Upload,
    /// Written by the device, read by the host.
    Readback,
}

/// Memory for one buffer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Allocation {
    /// The memory object.
    pub memory: vk::DeviceMemory,
    /// First byte in it.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The first byte's address on the host, for [`Location::Upload`] and [`Location::Readback`]; coherent.
    pub mapped: Option<NonNull<c_void>>,
    /// For the allocator's own use.
    pub token: u64,
}

impl Allocation {
    /// Memory from byte `offset` of a memory object on, that the host does not see: for [`Location::Device`].
    pub fn new(memory: vk::DeviceMemory, offset: u64, size: u64) -> Self {
        Self { memory, offset, size, mapped: None, token: 0 }
    }

    /// The same with the address of its first byte on the host.
    #[must_use]
    pub fn mapped(self, mapped: Option<NonNull<c_void>>) -> Self {
        Self { mapped, ..self }
    }

    /// The same with a number of the allocator's own.
    #[must_use]
    pub fn token(self, token: u64) -> Self {
        Self { token, ..self }
    }
}

// SAFETY: the address is used by whoever owns the allocation, through `&mut`, on any thread.
unsafe impl Send for Allocation {}

/// An allocator that several programs of an owner share, such as a step's before and after its lists have grown.
pub type SharedMemory<M> = Arc<Mutex<M>>;

/// An allocator of device memory. The engine calls it when buffers are made, grown or dropped, never while recording.
///
/// # Safety
/// What [`Memory::allocate`] returns is memory of the host's device of at least `requirements.size` bytes, aligned and
/// of a type as `requirements` asks for, used by nobody else until it is given back with [`Memory::free`]. `mapped`,
/// where it is given, is the address of its first byte, valid for `size` bytes, host-coherent, until then.
pub unsafe trait Memory: Send {
    /// Allocates memory that fits `requirements`; `name` is for reports only.
    fn allocate(
        &mut self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: Location,
    ) -> Result<Allocation, Error>;

    /// Gives memory back. The device no longer uses it.
    fn free(&mut self, allocation: Allocation);
}

#[cfg(feature = "gpu-allocator")]
pub use with_gpu_allocator::{GpuAllocator, LendAllocator};

#[cfg(feature = "gpu-allocator")]
mod with_gpu_allocator {
    use super::*;
    use crate::vulkan::Host;
    use gpu_allocator::vulkan::{AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
    use gpu_allocator::{AllocationSizes, AllocatorDebugSettings, MemoryLocation};
    use std::collections::HashMap;
    use std::sync::PoisonError;

    const MIB: u64 = 1 << 20;

    /// Access to a gpu-allocator that the host shares with the engine. `Arc<Mutex<Allocator>>` implements it; hosts
    /// that keep theirs another way implement it in a few lines. It is used when buffers are made or dropped, never
    /// while recording.
    pub trait LendAllocator: Send {
        /// Calls `using` exactly once, with exclusive access to the allocator.
        fn lend(&mut self, using: &mut dyn FnMut(&mut Allocator));
    }

    impl LendAllocator for Arc<Mutex<Allocator>> {
        fn lend(&mut self, using: &mut dyn FnMut(&mut Allocator)) {
            // Ignore poisoning: a panic in another user of the lock does not damage the allocator.
            using(&mut self.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// An allocator that only the engine uses.
    struct Owned(Allocator);

    impl LendAllocator for Owned {
        fn lend(&mut self, using: &mut dyn FnMut(&mut Allocator)) {
            using(&mut self.0);
        }
    }

    /// The default [`Memory`]: an allocator of its own ([`GpuAllocator::new`]), or the host's ([`GpuAllocator::lent`]).
    pub struct GpuAllocator {
        allocator: Box<dyn LendAllocator>,
        live: HashMap<u64, gpu_allocator::vulkan::Allocation>,
        next: u64,
    }

    impl GpuAllocator {
        /// An allocator on a host's device.
        ///
        /// # Safety
        /// The handles are alive and belong together; the device outlives the allocator.
        pub unsafe fn new(host: &Host) -> Result<Self, Error> {
            let mut debug_settings = AllocatorDebugSettings::default();
            debug_settings.log_leaks_on_shutdown = false;
            let allocator = Allocator::new(&AllocatorCreateDesc {
                instance: host.instance.clone(),
                device: host.device.clone(),
                physical_device: host.physical_device,
                debug_settings,
                buffer_device_address: false,
                // Small first blocks: a small world should not cost 256 MiB.
                allocation_sizes: AllocationSizes::new(4 * MIB, 4 * MIB)
                    .with_max_device_memblock_size(256 * MIB)
                    .with_max_host_memblock_size(64 * MIB),
            })
            .map_err(|e| Error::OutOfMemory {
                buffer: "allocator".to_owned(),
                size: 0,
                why: e.to_string(),
            })?;
            Ok(Self::over(Owned(allocator)))
        }

        /// Allocates from the host's allocator. All memory is returned to it when what was made with this is dropped,
        /// so the host's allocator must live until then; an `Arc` ensures that by itself.
        ///
        /// # Safety
        /// It allocates memory of the device that this is used with, and that device outlives it.
        pub unsafe fn lent(allocator: impl LendAllocator + 'static) -> Self {
            Self::over(allocator)
        }

        fn over(allocator: impl LendAllocator + 'static) -> Self {
            Self { allocator: Box::new(allocator), live: HashMap::new(), next: 0 }
        }
    }

    // SAFETY: gpu-allocator hands out each range once, of the type that the requirements allow, mapped persistently.
    unsafe impl Memory for GpuAllocator {
        fn allocate(
            &mut self,
            name: &str,
            requirements: vk::MemoryRequirements,
            location: Location,
        ) -> Result<Allocation, Error> {
            let description = AllocationCreateDesc {
                name,
                requirements,
                location: match location {
                    Location::Device => MemoryLocation::GpuOnly,
                    Location::Upload => MemoryLocation::CpuToGpu,
                    Location::Readback => MemoryLocation::GpuToCpu,
                },
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            };
            let refused = |why: String| Error::OutOfMemory { buffer: name.to_owned(), size: requirements.size, why };
            let mut made = None;
            self.allocator.lend(&mut |allocator| made = Some(allocator.allocate(&description)));
            let inner = made
                .ok_or_else(|| refused("the host did not lend its allocator".to_owned()))?
                .map_err(|e| refused(e.to_string()))?;
            let token = self.next;
            self.next += 1;
            // SAFETY: the handle is bound to one buffer and given back through `free`, as gpu-allocator asks.
            let memory = unsafe { inner.memory() };
            let allocation =
                Allocation { memory, offset: inner.offset(), size: inner.size(), mapped: inner.mapped_ptr(), token };
            self.live.insert(token, inner);
            Ok(allocation)
        }

        fn free(&mut self, allocation: Allocation) {
            let mut inner = self.live.remove(&allocation.token);
            self.allocator.lend(&mut |allocator| {
                if let Some(inner) = inner.take() {
                    // A failure here means the allocator does not know its own allocation; nothing is left to be done.
                    let _ = allocator.free(inner);
                }
            });
        }
    }
}
