//! The stepper inside a host's frames: its own command buffers, two frames in flight, edits every frame, growth on the
//! way, under the validation layers with synchronisation validation on.

#[path = "../common/mod.rs"]
mod common;
mod drawing;
mod frames;
mod host;
mod misuse;
mod poses;
mod state;

use common::{DRIVERS, open};
use drystone::backend::{Device, RunnerExt};
use drystone::glam::{Quat, Vec3};
use drystone::layout::BodyPose;
use drystone::metrics::Metrics;
use drystone::state::{Capacities, List, UserBuffer};
use drystone::stepper::JointForce;
use drystone::vulkan::ash::vk;
use drystone::vulkan::{Frames, FramesOptions, GpuAllocator, HostAccess, Kernels, Overflow, OwnDevice, PoseTarget};
use drystone::world::{BodyDesc, BodyHandle, Collider, JointDesc, JointHandle, World};

use drystone::{EventKind, Settings, Simulation, StepReport, Stepper, scenes};
use host::*;
use std::sync::Arc;
