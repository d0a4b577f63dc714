//! Devices that are none.

use crate::common::open;
use crate::{drystone, folder, said};
use drystone::backend::Runner;
use drystone::plan::Recording;
use drystone::vulkan::{self, Loader, Missing, OwnDevice, OwnDeviceOptions, VulkanRunner};
use drystone_kernels::primitives::probe;
use std::path::Path;
use std::sync::Arc;

#[test]
fn null_hardware_is_refused_by_name() {
    let mut support = open("llvmpipe").support().clone();
    support.device_memory = 0;
    support.timestamp_period = f32::INFINITY;
    assert_eq!(support.missing(), [Missing::Hardware]);
    let error = support.check().unwrap_err();
    assert!(matches!(error, vulkan::Error::Unsupported { .. }));
    let text = error.to_string();
    assert!(
        text.contains("llvmpipe") && text.contains("hardware: the driver shows a device without any memory"),
        "{text}"
    );
}

/// Where Mesa's RADV is installed it makes up a device that a variable names.
#[test]
fn a_driver_without_a_gpu_is_neither_called_usable_nor_waited_for() {
    let radv = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
    if !Path::new(radv).exists() {
        return;
    }
    let folder = folder("radv");
    let with_radv = |arguments: &[&str]| {
        let mut command = drystone(&folder, arguments);
        command.env("VK_ICD_FILENAMES", radv).env_remove("VK_DRIVER_FILES").env("RADV_FORCE_FAMILY", "navi21");
        command.output().expect("the command starts")
    };
    let output = with_radv(&["info"]);
    let text = said(&output);
    assert!(output.status.success(), "it does not crash: {text}");
    // Versions of Mesa without made-up devices have none to show.
    if text.contains("RADV") {
        assert!(text.contains("it lacks:") && !text.contains("usable           yes"), "{text}");
        let output = with_radv(&["run", "stack", "--device", "RADV", "--steps", "1"]);
        assert!(output.status.code() == Some(1) && said(&output).contains("hardware"), "{}", said(&output));
    }
}

#[test]
fn a_pipeline_cache_of_another_driver_is_left_alone() {
    let loader = Loader::system().unwrap();
    let made = |name: &str, pipeline_cache: Vec<u8>| {
        let options =
            OwnDeviceOptions { name: Some(name.to_owned()), validation: true, pipeline_cache, ..Default::default() };
        let device = Arc::new(OwnDevice::new(&loader, &options).unwrap());
        let mut recording = Recording::new("probe");
        let out = recording.buffer("out", u64::from(probe::word::COUNT)).unwrap();
        recording.dispatch(1, probe::Bind { out }.with(probe::Push { offset: 0 })).unwrap();
        VulkanRunner::new(device.clone(), recording).unwrap().run().unwrap();
        let said = device.validation().take();
        assert!(said.is_empty(), "{name}: {said:?}");
        device.pipeline_cache_data().unwrap()
    };
    let [one, two] = ["llvmpipe", "SwiftShader"].map(|name| made(name, Vec::new()));
    // Of the other, with a header that is its own and nothing else right, cut in the header, and none at all.
    let forged = |own: &[u8]| own.iter().take(32).chain(&[0xa5; 64]).copied().collect::<Vec<u8>>();
    made("llvmpipe", two.clone());
    made("SwiftShader", one.clone());
    for (name, own) in [("llvmpipe", &one), ("SwiftShader", &two)] {
        made(name, own.clone());
        made(name, own[..own.len().min(20)].to_vec());
        made(name, vec![0xff; 4096]);
    }
    made("llvmpipe", forged(&one));
}
