//! Buffers besides those of a recording: upload and readback buffers, and copies that stay on the device.

use super::error::{During, Error};
use super::host::Shared;
use super::memory::{Allocation, Location, Memory, SharedMemory};
use super::program::lock;
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;

/// A buffer that stays mapped while it lives, if its memory is host-visible. Dropping it destroys it, so the device
/// must have finished with it by then.
pub(super) struct HostBuffer<M: Memory> {
    shared: Arc<Shared>,
    memory: SharedMemory<M>,
    buffer: vk::Buffer,
    allocation: Option<Allocation>,
    size: u64,
}

impl<M: Memory> HostBuffer<M> {
    pub fn new(
        shared: &Arc<Shared>,
        memory: &SharedMemory<M>,
        name: &CStr,
        size: u64,
        location: Location,
    ) -> Result<Self, Error> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = shared.create_buffer(size, usage, &[])?;
        // From here on `drop` cleans up.
        let mut made = Self { shared: shared.clone(), memory: memory.clone(), buffer, allocation: None, size };
        shared.name(buffer, name);
        let name = name.to_string_lossy();
        // SAFETY: the buffer was just made; it is bound once, to memory of the size and kind it asks for.
        unsafe {
            let requirements = shared.host.device.get_buffer_memory_requirements(buffer);
            let allocation = lock(memory).allocate(&name, requirements, location)?;
            let (at, offset, mapped) = (allocation.memory, allocation.offset, allocation.mapped.is_some());
            made.allocation = Some(allocation);
            shared.host.device.bind_buffer_memory(buffer, at, offset).during("vkBindBufferMemory")?;
            if !mapped && location != Location::Device {
                let why = "the allocator returned memory that the host cannot see".to_owned();
                return Err(Error::OutOfMemory { buffer: name.into_owned(), size, why });
            }
        }
        Ok(made)
    }

    pub fn handle(&self) -> vk::Buffer {
        self.buffer
    }

    /// Bytes of its memory, as allocated.
    pub fn allocated(&self) -> u64 {
        self.allocation.as_ref().map_or(0, |allocation| allocation.size)
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    fn address(&self) -> Option<*mut u8> {
        self.allocation.as_ref()?.mapped.map(|p| p.as_ptr().cast())
    }

    /// Writes bytes at an offset; bytes beyond the end of the buffer are dropped.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let room = self.size.saturating_sub(offset).min(bytes.len() as u64) as usize;
        if let Some(address) = self.address() {
            // SAFETY: the mapping holds `size` bytes; the device does not use them now (the owner's contract).
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address.add(offset as usize), room) };
        }
    }

    /// Reads bytes at an offset; stops at the end of the buffer.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        let room = self.size.saturating_sub(offset).min(into.len() as u64) as usize;
        if let Some(address) = self.address() {
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(address.add(offset as usize), into.as_mut_ptr(), room) };
        }
    }
}

impl<M: Memory> Drop for HostBuffer<M> {
    fn drop(&mut self) {
        // SAFETY: made from this device, which has finished with it (the type's contract).
        unsafe { self.shared.host.device.destroy_buffer(self.buffer, self.shared.host.callbacks()) };
        if let Some(allocation) = self.allocation.take() {
            lock(&self.memory).free(allocation);
        }
    }
}
