//! Where a C host's stepper gets device memory from: gpu-allocator, or functions of the host's.

use super::error::Failure;
use super::sized::{Struct, read};
use super::vulkan::VkDeviceMemory;
use crate::vulkan::{Allocation, Error, GpuAllocator, Host, Location, Memory};
use ash::vk::{self, Handle};
use std::ffi::{CString, c_char, c_void};
use std::ptr::NonNull;

/// What memory is used for.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrystoneMemoryLocation {
    /// By the device only.
    Device = 0,
    /// Written by the host, read by the device: mapped and coherent.
    Upload = 1,
    /// Written by the device, read by the host: mapped and coherent.
    Readback = 2,
}

/// Memory for a buffer, as it is asked for. `struct_size` is that of the library's header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneMemoryRequest {
    /// sizeof(DrystoneMemoryRequest).
    pub struct_size: u32,
    /// A `DrystoneMemoryLocation`.
    pub location: u32,
    /// Bytes, at least.
    pub size: u64,
    /// The offset is a multiple of this.
    pub alignment: u64,
    /// VkMemoryRequirements.memoryTypeBits.
    pub memory_type_bits: u32,
    /// 0.
    pub reserved: u32,
    /// What it is for, until the call returns.
    pub name: *const c_char,
}

/// Memory that a host gave. `struct_size` is set, and the rest is 0, when it is to be filled in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneMemory {
    /// sizeof(DrystoneMemory).
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// The memory object.
    pub memory: VkDeviceMemory,
    /// First byte in it.
    pub offset: u64,
    /// Bytes from there.
    pub size: u64,
    /// Address of the first byte on the host, where it is to be mapped; or NULL.
    pub mapped: *mut c_void,
    /// For the host's own use.
    pub token: u64,
}

/// Allocates memory: fills in `memory` and returns 0, or returns anything else when there is none.
pub type DrystoneAllocate = Option<
    unsafe extern "C" fn(user: *mut c_void, request: *const DrystoneMemoryRequest, memory: *mut DrystoneMemory) -> i32,
>;

/// Takes memory back. The device no longer uses it.
pub type DrystoneFree = Option<unsafe extern "C" fn(user: *mut c_void, memory: *const DrystoneMemory)>;

/// A host's allocator of device memory. Its functions are called by the thread that calls the library, one call at a
/// time for a stepper, when buffers are made and when they go: in `drystone_stepper_create_vulkan`, `drystone_prepare`,
/// `drystone_restore`, those with `reserve` in their name and `drystone_stepper_destroy`, never in `drystone_record`.
/// They must not call the library with the same stepper. What they give is memory of the host's device, as the request
/// asks, and nobody else's until it is taken back; all of it is when the stepper is destroyed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrystoneAllocator {
    /// sizeof(DrystoneAllocator).
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Handed to both functions.
    pub user: *mut c_void,
    /// Allocates.
    pub allocate: DrystoneAllocate,
    /// Takes back.
    pub free: DrystoneFree,
}

// SAFETY: `repr(C)`, the size first, no padding behind the last field; numbers and pointers take any bytes, and a
// function that is there is not NULL.
unsafe impl Struct for DrystoneAllocator {
    const NAME: &'static str = "DrystoneAllocator";

    fn defaults() -> Self {
        let struct_size = size_of::<Self>() as u32;
        Self { struct_size, reserved: 0, user: std::ptr::null_mut(), allocate: None, free: None }
    }
}

/// The functions of a host, both there.
pub(super) struct Lent {
    user: *mut c_void,
    allocate: unsafe extern "C" fn(*mut c_void, *const DrystoneMemoryRequest, *mut DrystoneMemory) -> i32,
    free: unsafe extern "C" fn(*mut c_void, *const DrystoneMemory),
}

// SAFETY: the host's functions may be called by whichever thread calls the library (contract of `DrystoneAllocator`).
unsafe impl Send for Lent {}

/// Device memory of a stepper.
pub(super) enum FfiMemory {
    Own(GpuAllocator),
    Lent(Lent),
}

impl FfiMemory {
    /// The host's functions, or gpu-allocator where there are none.
    ///
    /// # Safety
    /// `allocator` is NULL or as its type says; the device outlives this.
    pub unsafe fn new(host: &Host, allocator: *const DrystoneAllocator) -> Result<Self, Failure> {
        if allocator.is_null() {
            // SAFETY: this function's contract.
            return Ok(Self::Own(unsafe { GpuAllocator::new(host) }?));
        }
        // SAFETY: this function's contract.
        let said = unsafe { read("DrystoneStepperDesc.allocator", allocator) }?;
        if said.reserved != 0 {
            return Err(Failure::value("DrystoneAllocator.reserved must be 0"));
        }
        let allocate = said.allocate.ok_or_else(|| Failure::pointer("DrystoneAllocator.allocate", true))?;
        let free = said.free.ok_or_else(|| Failure::pointer("DrystoneAllocator.free", true))?;
        Ok(Self::Lent(Lent { user: said.user, allocate, free }))
    }
}

// SAFETY: gpu-allocator's, or what the host vouches for.
unsafe impl Memory for FfiMemory {
    fn allocate(
        &mut self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: Location,
    ) -> Result<Allocation, Error> {
        match self {
            Self::Own(own) => own.allocate(name, requirements, location),
            Self::Lent(lent) => lent.allocate(name, requirements, location),
        }
    }

    fn free(&mut self, allocation: Allocation) {
        match self {
            Self::Own(own) => own.free(allocation),
            Self::Lent(lent) => lent.give_back(&allocation),
        }
    }
}

impl Lent {
    fn allocate(&self, name: &str, asked: vk::MemoryRequirements, location: Location) -> Result<Allocation, Error> {
        let text = CString::new(name).unwrap_or_default();
        let location = match location {
            Location::Device => DrystoneMemoryLocation::Device,
            Location::Upload => DrystoneMemoryLocation::Upload,
            Location::Readback => DrystoneMemoryLocation::Readback,
        };
        let request = DrystoneMemoryRequest {
            struct_size: size_of::<DrystoneMemoryRequest>() as u32,
            location: location as u32,
            size: asked.size,
            alignment: asked.alignment,
            memory_type_bits: asked.memory_type_bits,
            reserved: 0,
            name: text.as_ptr(),
        };
        let mut given = nothing();
        // SAFETY: the host's function with arguments as it expects them.
        let result = unsafe { (self.allocate)(self.user, &request, &mut given) };
        let refused = |why: String| Error::OutOfMemory { buffer: name.to_owned(), size: asked.size, why };
        if result != 0 {
            return Err(refused(format!("the host's allocator returned {result}")));
        }
        let mapped = NonNull::new(given.mapped);
        let wrong = if given.memory.is_null() {
            Some("no memory object".to_owned())
        } else if given.size < asked.size {
            Some(format!("{} bytes", given.size))
        } else if !given.offset.is_multiple_of(asked.alignment.max(1)) {
            Some(format!("an offset of {}, which is no multiple of {}", given.offset, asked.alignment))
        } else if location != DrystoneMemoryLocation::Device && mapped.is_none() {
            Some("memory that is not mapped".to_owned())
        } else {
            None
        };
        if let Some(wrong) = wrong {
            // SAFETY: what it gave is given back.
            unsafe { (self.free)(self.user, &given) };
            return Err(refused(format!("the host's allocator gave {wrong}")));
        }
        Ok(Allocation { memory: given.memory, offset: given.offset, size: given.size, mapped, token: given.token })
    }

    fn give_back(&self, allocation: &Allocation) {
        let &Allocation { memory, offset, size, mapped, token } = allocation;
        let mapped = mapped.map_or(std::ptr::null_mut(), NonNull::as_ptr);
        let given = DrystoneMemory { memory, offset, size, mapped, token, ..nothing() };
        // SAFETY: the host's function; what it gave goes back once.
        unsafe { (self.free)(self.user, &given) };
    }
}

fn nothing() -> DrystoneMemory {
    DrystoneMemory {
        struct_size: size_of::<DrystoneMemory>() as u32,
        reserved: 0,
        memory: VkDeviceMemory::null(),
        offset: 0,
        size: 0,
        mapped: std::ptr::null_mut(),
        token: 0,
    }
}
