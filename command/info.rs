//! `drystone info`.

use drystone::backend::{Runner, RunnerExt};
use drystone::plan::Recording;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{Loader, OwnDevice, OwnDeviceOptions, Support, VulkanRunner};
use drystone_kernels::primitives::probe;
use std::sync::Arc;

pub fn run() -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    say!("cpu backend: {threads} threads");
    let devices = match Loader::system() {
        Ok(loader) => loader.devices().map(|devices| (loader, devices)),
        Err(error) => Err(error),
    };
    let (loader, devices) = match devices {
        Ok((loader, devices)) if !devices.is_empty() => (loader, devices),
        Ok(_) => {
            say!("vulkan backend: {}", drystone::vulkan::Error::NoDevice(None));
            return Ok(());
        }
        Err(error) => {
            say!("vulkan backend: {error}");
            return Ok(());
        }
    };
    for support in &devices {
        print(support)?;
        if support.missing().is_empty() {
            match measured_subgroup(&loader, &support.device_name) {
                Ok(size) => say!("  subgroup size    {} reported, {size} measured", support.subgroup_size),
                Err(error) => say!("  the probe failed: {error}"),
            }
        }
    }
    Ok(())
}

fn version(v: u32) -> String {
    format!("{}.{}.{}", vk::api_version_major(v), vk::api_version_minor(v), vk::api_version_patch(v))
}

fn print(support: &Support) -> anyhow::Result<()> {
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let missing = support.missing();
    say!("\n{}", support.device_name);
    say!("  type             {:?}", support.device_type);
    say!("  driver           {}", support.driver);
    say!("  Vulkan           {}", version(support.api_version));
    say!("  largest binding  {} (maxStorageBufferRange)", mib(support.max_storage_buffer_range));
    say!("  device memory    {}", mib(support.device_memory));
    say!("  workgroups       {} lanes, {} kB shared", support.max_workgroup, support.max_workgroup_memory >> 10);
    let family = support.compute_family().and_then(|f| support.queue_families.get(f as usize));
    match family.map_or(0, |f| f.1) {
        0 => say!("  time stamps      none: passes are not timed"),
        bits => say!("  time stamps      {bits} bits, {} ns a tick", support.timestamp_period),
    }
    if missing.is_empty() {
        say!("  usable           yes");
    } else {
        say!("  usable           no, it lacks:");
        for item in missing {
            say!("    {item}");
        }
    }
    Ok(())
}

/// Runs the probe kernel.
fn measured_subgroup(loader: &Loader, name: &str) -> drystone::Result<u32> {
    let options = OwnDeviceOptions { name: Some(name.to_owned()), ..Default::default() };
    let device = Arc::new(OwnDevice::new(loader, &options)?);
    let mut recording = Recording::new("probe");
    let out = recording.buffer("out", u64::from(probe::word::COUNT))?;
    recording.dispatch(1, probe::Bind { out }.with(probe::Push { offset: 0 }))?;
    let mut runner = VulkanRunner::new(device, recording)?;
    runner.run()?;
    Ok(runner.read(out)?[probe::word::BALLOT as usize])
}
