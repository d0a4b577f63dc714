//! [`Queue`]: submits command buffers and waits for them, for callers without a frame loop of their own.

use super::error::{During, Error};
use super::host::{Host, Shared};
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// A semaphore to wait for or to signal: a timeline semaphore with its value, or a binary one, such as a swapchain's.
/// A wait holds back all commands of the submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signal {
    /// The semaphore.
    pub semaphore: vk::Semaphore,
    /// The timeline value; ignored for binary semaphores.
    pub value: u64,
}

impl Signal {
    /// A timeline semaphore: waits until it has reached the value, or raises it to that.
    pub const fn timeline(semaphore: vk::Semaphore, value: u64) -> Self {
        Self { semaphore, value }
    }

    /// A binary semaphore: a wait takes the signal that an earlier submission, or the swapchain, gives.
    pub const fn binary(semaphore: vk::Semaphore) -> Self {
        Self { semaphore, value: 0 }
    }
}

/// Submits command buffers to a queue, one timeline value after the other, and waits for them.
pub struct Queue {
    shared: Arc<Shared>,
    queue: vk::Queue,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    submitted: u64,
    pending: Vec<vk::CommandBuffer>,
    free: Vec<vk::CommandBuffer>,
    lost: bool,
}

impl Queue {
    /// A helper for queue `queue`, which belongs to the host's queue family.
    ///
    /// # Safety
    /// The handles are alive, belong together and outlive the helper; the device was made with the feature
    /// `timelineSemaphore`; nobody else uses the queue during [`Queue::submit`].
    pub unsafe fn new(host: &Host, queue: vk::Queue) -> Result<Self, Error> {
        // SAFETY: this function's contract.
        let shared = unsafe { Shared::new(host) }?;
        if !shared.support.timeline_semaphore {
            return Err(Error::Unsupported {
                device: shared.support.device_name.clone(),
                missing: vec![super::Missing::Feature("timelineSemaphore")],
            });
        }
        let mut helper = Self {
            shared,
            queue,
            pool: vk::CommandPool::null(),
            timeline: vk::Semaphore::null(),
            submitted: 0,
            pending: Vec::new(),
            free: Vec::new(),
            lost: false,
        };
        let device = &host.device;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(host.queue_family);
        // SAFETY: the device is alive; the description is complete.
        helper.pool = unsafe { device.create_command_pool(&info, host.callbacks()) }.during("vkCreateCommandPool")?;
        helper.shared.name(helper.pool, c"drystone queue");
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: as above.
        helper.timeline = unsafe { device.create_semaphore(&info, host.callbacks()) }.during("vkCreateSemaphore")?;
        helper.shared.name(helper.timeline, c"drystone timeline");
        Ok(helper)
    }

    /// Calls `record` with a command buffer of the helper's and submits it; does not wait. Returns the timeline value
    /// that [`Queue::wait`] takes.
    ///
    /// # Safety
    /// What `record` records is valid; the semaphores are alive and will be signalled.
    pub unsafe fn submit(
        &mut self,
        waits: &[Signal],
        signals: &[Signal],
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<u64, Error> {
        self.check()?;
        let commands = [self.take()?];
        let device = self.shared.host.device.clone();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is in the initial state.
        unsafe { device.begin_command_buffer(commands[0], &begin) }.during("vkBeginCommandBuffer")?;
        record(commands[0]);
        // SAFETY: begun above; the caller vouches for what is in it.
        unsafe { device.end_command_buffer(commands[0]) }.during("vkEndCommandBuffer")?;

        let value = self.submitted + 1;
        let (wait_semaphores, wait_values): (Vec<_>, Vec<_>) = waits.iter().map(|w| (w.semaphore, w.value)).unzip();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let own = Signal { semaphore: self.timeline, value };
        let (signal_semaphores, signal_values): (Vec<_>, Vec<_>) =
            signals.iter().chain([&own]).map(|s| (s.semaphore, s.value)).unzip();
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let mut submit = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&signal_semaphores)
            .push_next(&mut timeline);
        // An empty list has an address in Rust, which layers take for one that was forgotten to be counted.
        if !waits.is_empty() {
            submit = submit.wait_semaphores(&wait_semaphores).wait_dst_stage_mask(&stages);
        }
        // SAFETY: this function's contract.
        let result = unsafe { device.queue_submit(self.queue, &[submit], vk::Fence::null()) };
        self.note(result.during("vkQueueSubmit"))?;
        self.submitted = value;
        self.pending.extend(commands);
        Ok(value)
    }

    /// A command buffer in the initial state.
    fn take(&mut self) -> Result<vk::CommandBuffer, Error> {
        if let Some(commands) = self.free.pop() {
            return Ok(commands);
        }
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is alive and used by this thread only (`&mut self`).
        let made = unsafe { self.shared.host.device.allocate_command_buffers(&info) };
        Ok(made.during("vkAllocateCommandBuffers")?[0])
    }

    /// Waits until the submission that returned `value` is finished, at most `timeout` ([`Error::TimedOut`]). Command
    /// buffers are reused once none is pending.
    pub fn wait(&mut self, value: u64, timeout: Duration) -> Result<(), Error> {
        self.check()?;
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let device = &self.shared.host.device;
        // SAFETY: the semaphore is alive.
        match unsafe { device.wait_semaphores(&info, nanoseconds) } {
            Err(vk::Result::TIMEOUT) => {
                return Err(Error::TimedOut { what: "the submission", seconds: timeout.as_secs_f32() });
            }
            other => self.note(other.during("vkWaitSemaphores"))?,
        }
        if value == self.submitted {
            // SAFETY: nothing of the pool is pending: its last submission is done.
            unsafe { self.shared.host.device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
                .during("vkResetCommandPool")?;
            self.free.append(&mut self.pending);
        }
        Ok(())
    }

    /// After the device is lost every call fails at once.
    fn check(&self) -> Result<(), Error> {
        if self.lost { Err(Error::DeviceLost("an earlier call")) } else { Ok(()) }
    }

    fn note<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.lost |= matches!(result, Err(Error::DeviceLost(_)));
        result
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.submitted > 0 && !self.lost {
            // Pending work must finish before its command buffers are destroyed. A failure cannot be handled here.
            let _ = self.wait(self.submitted, Duration::from_secs(60));
        }
        // SAFETY: made from this device; what was submitted is done.
        unsafe {
            self.shared.host.device.destroy_command_pool(self.pool, self.shared.host.callbacks());
            self.shared.host.device.destroy_semaphore(self.timeline, self.shared.host.callbacks());
        }
    }
}
