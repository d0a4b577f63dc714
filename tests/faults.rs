//! What a user or a machine can get wrong, and the named error it gives. Nothing here may panic.

mod common;

use common::open;
use drystone::Error;
use drystone::backend::RunnerExt;
use drystone::cpu::Cpu;
use drystone::kernels::{Manifest, ManifestError, STAGES, words};
use drystone::layout::{Extent, Pair};
use drystone::plan::detect::bvh::Bvh;
use drystone::plan::primitives::scan::{Scan, Scratch};
use drystone::plan::primitives::sort::{KeyedItems, Sort};
use drystone::plan::{Buffer, BufferId, PlanError, Recording};
use drystone::vulkan::ash::vk;
use drystone::vulkan::{self, Loader, Missing, OwnDevice, OwnDeviceOptions, VulkanRunner};
use drystone_kernels::manifest;
use drystone_kernels::primitives::scan_sums;
use std::path::{Path, PathBuf};

// ---- loader, device, driver

#[test]
fn a_missing_loader_is_named() {
    // SAFETY: there is no such file, so nothing is run.
    let error = unsafe { Loader::from_path("/nonexistent/libvulkan.so.1") }.err().expect("no loader there");
    assert!(matches!(error, vulkan::Error::NoLoader(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("/nonexistent") && text.contains("mesa-vulkan-drivers"), "{text}");
}

#[test]
fn an_unknown_device_is_named() {
    let options = OwnDeviceOptions { name: Some("Voodoo 2".to_owned()), ..Default::default() };
    let error = OwnDevice::new(&Loader::system().unwrap(), &options).err().expect("no such device");
    assert!(error.to_string().contains("`Voodoo 2`"), "{error}");
}

#[test]
fn a_device_without_the_needed_features_is_refused_with_everything_it_lacks() {
    let good = open("llvmpipe").support().clone();
    assert_eq!(good.missing(), []);
    good.check().unwrap();

    let mut poor = good.clone();
    poor.api_version = vk::make_api_version(0, 1, 1, 0);
    poor.vulkan_memory_model = false;
    poor.scalar_block_layout = false;
    poor.subgroup_operations = vk::SubgroupFeatureFlags::BASIC;
    poor.subgroup_size = 128;
    poor.max_workgroup = 128;
    poor.queue_families = vec![(vk::QueueFlags::TRANSFER, 0)];
    let error = poor.check().unwrap_err();
    let vulkan::Error::Unsupported { missing, .. } = &error else { panic!("{error}") };
    assert!(missing.contains(&Missing::Feature("vulkanMemoryModel")));
    assert!(missing.contains(&Missing::SubgroupSize(128)));
    let text = error.to_string();
    for word in ["llvmpipe", "1.2", "vulkanMemoryModel", "scalarBlockLayout", "ballot", "shuffle", "128", "queue"] {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
}

// ---- kernels

/// A copy of the kernel crate and its modules that a test may damage.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&root);
        copy_folder(manifest::crate_root(), &root);
        Self(root)
    }

    fn verify(&self) -> Result<Manifest, ManifestError> {
        Manifest::verify(&self.0.join("spirv"), &self.0, STAGES)
    }

    fn edit(&self, file: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        let path = self.0.join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        edit(&mut bytes);
        std::fs::write(path, bytes).unwrap();
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

#[test]
fn an_untouched_copy_of_the_kernels_passes() {
    let manifest = Copy::new("untouched").verify().unwrap();
    assert_eq!(manifest.modules.len(), STAGES.len());
    assert_eq!(Manifest::parse(&manifest.to_text()).unwrap(), manifest, "what is written can be read");
}

#[test]
fn a_truncated_module_is_named() {
    let copy = Copy::new("truncated");
    copy.edit("spirv/reduce.spv", |bytes| bytes.truncate(bytes.len() / 2 / 4 * 4));
    let error = copy.verify().unwrap_err();
    assert!(matches!(&error, ManifestError::Damaged { stage, .. } if stage == "reduce"), "{error}");
    assert!(error.to_string().contains("bytes instead of"), "{error}");
}

#[test]
fn a_module_with_one_wrong_bit_is_named() {
    let copy = Copy::new("one_bit");
    copy.edit("spirv/morton.spv", |bytes| bytes[777] ^= 1);
    let error = copy.verify().unwrap_err();
    assert!(matches!(&error, ManifestError::Damaged { stage, .. } if stage == "morton"), "{error}");
}

#[test]
fn what_is_no_spirv_is_refused() {
    for bytes in [&b""[..], b"abc", &[0; 64], &[3, 2, 0x23, 7, 1]] {
        let error = words("probe", bytes).unwrap_err();
        assert!(matches!(error, Error::Kernels(ManifestError::Damaged { .. })), "{error}");
    }
}

#[test]
fn a_missing_module_is_named() {
    let copy = Copy::new("missing");
    std::fs::remove_file(copy.0.join("spirv/refit.spv")).unwrap();
    let error = copy.verify().unwrap_err();
    assert!(error.to_string().contains("refit.spv"), "{error}");
}

#[test]
fn an_out_of_date_manifest_is_named() {
    let copy = Copy::new("out_of_date");
    copy.edit("src/primitives/reduce.rs", |bytes| bytes.extend(b"\n// changed\n"));
    let error = copy.verify().unwrap_err();
    assert!(matches!(error, ManifestError::OutOfDate { .. }), "{error}");
    assert!(error.to_string().contains("tools/kernels"), "{error}");
}

#[test]
fn a_manifest_of_another_stage_list_is_named() {
    let copy = Copy::new("other_stages");
    copy.edit("spirv/manifest.txt", |bytes| {
        let text = String::from_utf8(std::mem::take(bytes)).unwrap();
        *bytes = text.replace("stage reduce threads 256", "stage reduce threads 128").into_bytes();
    });
    let error = copy.verify().unwrap_err();
    assert!(matches!(&error, ManifestError::Mismatch { stage, .. } if stage == "reduce"), "{error}");

    copy.edit("spirv/manifest.txt", |bytes| *bytes = b"drystone-kernels 1\nsources xyz\n".to_vec());
    let error = copy.verify().unwrap_err();
    assert!(matches!(error, ManifestError::Malformed { line: 2, .. }), "{error}");
}

// ---- worlds that do not fit

#[test]
fn a_world_too_large_for_the_device_is_refused_before_anything_is_allocated() {
    // 128 MiB is the largest binding on llvmpipe: 6 million boxes of 24 bytes are more.
    let mut recording = Recording::new("too large");
    let counters = recording.buffer("counters", 1).unwrap();
    let boxes = recording.buffer("boxes", 6_000_000).unwrap();
    Bvh { boxes, extent: Extent::host(6_000_000), counters }.record(&mut recording, "bvh").unwrap();
    let error = VulkanRunner::new(open("llvmpipe"), recording).err().expect("too large");
    let Error::Vulkan(vulkan::Error::BindingTooLarge { buffer, size, limit, .. }) = &error else { panic!("{error}") };
    assert_eq!((buffer.as_str(), *size, *limit), ("boxes", 144_000_000, 128 << 20));
    assert!(error.to_string().contains("maxStorageBufferRange"), "{error}");
}

#[test]
fn a_world_larger_than_the_devices_memory_is_refused() {
    for driver in ["llvmpipe", "SwiftShader"] {
        let device = open(driver);
        let mut recording = Recording::new("larger than memory");
        let each = 100 << 20;
        for i in 0..device.support().device_memory / each + 1 {
            recording.buffer::<u32>(format!("part {i}"), each / 4).unwrap();
        }
        let error = VulkanRunner::new(device, recording).err().expect("too large");
        assert!(matches!(error, Error::Vulkan(vulkan::Error::WorldTooLarge { .. })), "{driver}: {error}");
    }
}

#[test]
fn a_world_larger_than_the_hosts_memory_is_refused() {
    let mut recording = Recording::new("larger than memory");
    recording.buffer::<u32>("everything", 1 << 60).unwrap();
    let error = Cpu::new(recording, None).err().expect("too large");
    assert!(matches!(&error, Error::OutOfHostMemory { buffer, .. } if buffer == "everything"), "{error}");
}

// ---- recordings that make no sense

#[test]
fn senseless_recordings_are_refused_by_name() {
    let mut recording = Recording::new("senseless");
    let words = recording.buffer::<u32>("words", 16).unwrap();
    let pairs = recording.buffer::<Pair>("pairs", 16).unwrap();
    let foreign = Buffer::<u32>::new(BufferId(99));
    let push = scan_sums::Push { extent: Extent::host(16), total: 0, tile: 1, few: 0 };
    let bind = |values, counters, sums| scan_sums::Bind { values, counters, sums }.with(push);

    let error = recording.buffer::<u32>("words", 1).unwrap_err();
    assert!(matches!(error, PlanError::DuplicateBuffer { .. }), "{error}");
    let error = recording.dispatch(1, bind(words, foreign, words)).unwrap_err();
    assert!(matches!(error, PlanError::Aliased { .. } | PlanError::UnknownBuffer { .. }), "{error}");
    let error = recording.dispatch(1, bind(foreign, words, words)).unwrap_err();
    assert!(matches!(error, PlanError::UnknownBuffer { buffer: 99, .. }), "{error}");
    let error = recording.dispatch(1, bind(words, words, words)).unwrap_err();
    assert!(matches!(error, PlanError::Aliased { .. }), "{error}");
    let error = recording.dispatch(1, bind(Buffer::new(pairs.id()), words, words)).unwrap_err();
    assert!(matches!(error, PlanError::Stride { stride: 8, expected: 4, .. }), "{error}");
    let error = recording.dispatch(u64::MAX, bind(words, words, words)).unwrap_err();
    assert!(matches!(error, PlanError::TooManyGroups { .. }), "{error}");
    for range in [0..17, 15..u64::MAX] {
        let error = recording.fill(words, range, 0).unwrap_err();
        assert!(matches!(error, PlanError::Range { .. }), "{error}");
    }
    let error = recording.copy((words, 0), (words, 8), 12).unwrap_err();
    assert!(matches!(error, PlanError::Range { .. }), "{error}");
    let error = recording.copy((words, 0), (words, 4), 8).unwrap_err();
    assert!(matches!(error, PlanError::Aliased { .. }), "{error}");
    assert!(recording.commands().is_empty(), "nothing refused was recorded");

    let counters = recording.buffer("counters", 1).unwrap();
    let input = KeyedItems::new(&mut recording, "input", 4).unwrap();
    let sort = Sort { input, extent: Extent::host(u32::MAX), key_bits: 32, counters };
    let error = sort.record(&mut recording, "sort").unwrap_err();
    assert!(matches!(error, PlanError::TooManyItems { what: "sort", .. }), "{error}");
}

#[test]
fn reads_and_writes_out_of_bounds_are_refused_on_every_backend() {
    common::on_every_backend(|backend| {
        let mut recording = Recording::new("bounds");
        let words = recording.buffer::<u32>("words", 16).unwrap();
        let mut runner = backend.runner(&recording).unwrap();
        let foreign = Buffer::<u32>::new(BufferId(7));
        for error in [
            runner.write(words, &[0; 17]).unwrap_err(),
            runner.write_bytes(words.id(), 61, &[0; 4]).unwrap_err(),
            runner.write_bytes(words.id(), u64::MAX, &[0; 4]).unwrap_err(),
            runner.read_first(words, 17).unwrap_err(),
            runner.read_first(words, u64::MAX).unwrap_err(),
        ] {
            assert!(matches!(&error, Error::OutOfBounds { buffer, .. } if buffer == "words"), "{error}");
        }
        for error in [runner.write(foreign, &[0]).unwrap_err(), runner.read(foreign).unwrap_err()] {
            assert!(matches!(&error, Error::UnknownBuffer { buffer: 7, .. }), "{error}");
        }
    });
}

#[test]
fn an_empty_recording_runs() {
    common::on_every_backend(|backend| {
        let mut runner = backend.runner(&Recording::new("empty")).unwrap();
        assert!(runner.run().unwrap().passes.is_empty());
    });
}

#[test]
fn a_scan_of_nothing_has_total_zero() {
    common::on_every_backend(|backend| {
        let mut recording = Recording::new("nothing");
        let counters = recording.buffer("counters", 1).unwrap();
        let values = recording.buffer("values", 0).unwrap();
        let prefixes = recording.buffer("prefixes", 0).unwrap();
        let scratch = Scratch::new(&mut recording, "scan", 0).unwrap();
        let scan = Scan { values, prefixes, extent: Extent::host(0), counters, total: 0 };
        scan.record(&mut recording, scratch).unwrap();
        let mut runner = backend.runner(&recording).unwrap();
        runner.write(counters, &[17]).unwrap();
        runner.run().unwrap();
        assert_eq!(runner.read(counters).unwrap(), [0]);
    });
}
