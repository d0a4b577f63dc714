//! Devices that are none.

use crate::common::open;
use crate::{drystone, folder, said};
use drystone::vulkan::{self, Missing};
use std::path::Path;

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
