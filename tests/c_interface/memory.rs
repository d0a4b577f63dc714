//! Device memory from a C host's functions, and what the library tells by name: passes and memory.

use super::*;
use std::ffi::c_void;

/// A host's allocator, as C has one: counts what is out, and refuses when it is told to.
struct HostMemory<'a> {
    device: &'a OwnDevice,
    out: u32,
    names: Vec<String>,
    refuse: bool,
    unmapped: bool,
}

unsafe extern "C" fn give(user: *mut c_void, request: *const DrystoneMemoryRequest, to: *mut DrystoneMemory) -> i32 {
    // SAFETY: the user data is a `HostMemory`, used by one thread; the structs are the library's.
    unsafe {
        let (memory, request) = (&mut *user.cast::<HostMemory<'_>>(), &*request);
        assert_eq!((request.struct_size as usize, (*to).struct_size as usize), (40, 48));
        if memory.refuse {
            return -2;
        }
        let host = memory.device.host();
        let types = host.instance.get_physical_device_memory_properties(host.physical_device);
        let mapped = request.location != DrystoneMemoryLocation::Device as u32;
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let fits = |i: &u32| {
            let flags = types.memory_types[*i as usize].property_flags;
            request.memory_type_bits & (1 << i) != 0 && (!mapped || flags.contains(wanted))
        };
        let index = (0..types.memory_type_count).find(fits).unwrap();
        let info = vk::MemoryAllocateInfo::default().allocation_size(request.size).memory_type_index(index);
        let made = host.device.allocate_memory(&info, None).unwrap();
        (*to).memory = made;
        (*to).size = request.size;
        (*to).token = 7;
        if mapped && !memory.unmapped {
            let flags = vk::MemoryMapFlags::empty();
            (*to).mapped = host.device.map_memory(made, 0, request.size, flags).unwrap();
        }
        memory.out += 1;
        memory.names.push(CStr::from_ptr(request.name).to_str().unwrap().to_owned());
        0
    }
}

unsafe extern "C" fn take_back(user: *mut c_void, memory: *const DrystoneMemory) {
    // SAFETY: as above; what was given comes back once.
    unsafe {
        let host = &mut *user.cast::<HostMemory<'_>>();
        assert_eq!((*memory).token, 7);
        host.device.host().device.free_memory((*memory).memory, None);
        host.out -= 1;
    }
}

#[test]
fn device_memory_is_the_hosts_and_passes_have_times_by_name() {
    let device = open("llvmpipe");
    // SAFETY: as above.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let (mut kernels, mut stepper) = (null_mut(), null_mut());
        done(drystone_kernels_create(&lent(&device, &entry), &mut kernels));
        let mut memory = HostMemory { device: &device, out: 0, names: Vec::new(), refuse: false, unmapped: false };
        let user = &raw mut memory;
        let mut allocator = DrystoneAllocator { user: user.cast(), allocate: Some(give), ..sized() };
        let mut desc = sized::<DrystoneStepperDesc>();
        done(drystone_stepper_defaults(&mut desc));
        (desc.allocator, desc.timing) = (&raw const allocator, 1);
        let no_free = drystone_stepper_create_vulkan(kernels, &desc, &mut stepper);
        refused(no_free, DrystoneResult::ErrorPointer, "DrystoneAllocator.free");
        allocator.free = Some(take_back);
        desc.allocator = &raw const allocator;
        (*user).refuse = true;
        let none = drystone_stepper_create_vulkan(kernels, &desc, &mut stepper);
        refused(none, DrystoneResult::ErrorOutOfMemory, "returned -2");
        ((*user).refuse, (*user).unmapped) = (false, true);
        let unmapped = drystone_stepper_create_vulkan(kernels, &desc, &mut stepper);
        refused(unmapped, DrystoneResult::ErrorOutOfMemory, "memory that is not mapped");
        assert_eq!((*user).out, 0, "what was made before the failure is given back");
        (*user).unmapped = false;
        let family = [5];
        (desc.shared_families, desc.shared_family_count) = (family.as_ptr(), 1);
        let stranger = drystone_stepper_create_vulkan(kernels, &desc, &mut stepper);
        refused(stranger, DrystoneResult::ErrorVulkan, "there is no queue family 5");
        desc.shared_family_count = 0;
        done(drystone_stepper_create_vulkan(kernels, &desc, &mut stepper));
        assert!((*user).names.iter().any(|name| name == "body_poses"), "{:?}", (*user).names);
        build(stepper);
        let queue = Queue::new(device.host(), device.queue()).unwrap();
        let mut host = InFrames { stepper, queue, device: &device, frame: 0 };
        host.step(2);
        // The last report has passes, whose times are all of it.
        let (mut report, mut pass) = (sized::<DrystoneReport>(), sized::<DrystonePass>());
        done(drystone_poll(stepper, 2, &mut report));
        let mut sum = 0;
        let mut names = Vec::new();
        for index in 0..report.pass_count {
            done(drystone_report_pass(stepper, index, &mut pass));
            assert!(pass.runs > 0);
            sum += pass.nanoseconds;
            names.push(CStr::from_ptr(pass.name.as_ptr()).to_str().unwrap().to_owned());
        }
        assert!(sum == report.nanoseconds && sum > 0, "{sum} of {}", report.nanoseconds);
        assert!(names.iter().any(|name| name == "primal") && names.iter().any(|name| name == "bounds"), "{names:?}");
        let beyond = drystone_report_pass(stepper, report.pass_count, &mut pass);
        refused(beyond, DrystoneResult::ErrorValue, "there is no pass");
        // Memory by name, frames that are kept included.
        done(drystone_keep_frames(stepper, 2));
        host.step(1);
        let (mut count, mut used) = (0, sized::<DrystoneMemoryUse>());
        done(drystone_memory(stepper, 0, null_mut(), &mut count));
        let there = count;
        let of = |index| {
            done(drystone_memory(stepper, index, &mut used, &mut count));
            (CStr::from_ptr(used.name.as_ptr()).to_str().unwrap().to_owned(), used.bytes)
        };
        let parts: Vec<_> = (0..there).map(of).collect();
        assert!(parts.iter().any(|(name, bytes)| name == "kept frames" && *bytes > 0), "{parts:?}");
        let mut ignored = 0;
        let beyond = drystone_memory(stepper, there, &mut sized::<DrystoneMemoryUse>(), &mut ignored);
        refused(beyond, DrystoneResult::ErrorValue, "there is no part");
        drop(host);
        done(drystone_stepper_destroy(stepper));
        done(drystone_kernels_destroy(kernels));
        assert_eq!((*user).out, 0, "everything is given back");
    }
    let said = device.validation().take();
    assert!(said.is_empty(), "{said:?}");
}
