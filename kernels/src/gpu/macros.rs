//! [`stage!`](macro@crate::stage): one declaration, three products (SPIR-V entry, native entry, description), and
//! [`layout!`](macro@crate::layout): structs that lie in memory alike on both sides.

/// Declares structs that live in buffers or push constants: `repr(C)`, plain old data; on the host they are printable
/// and describe their own fields ([`Words`](crate::gpu::Words)).
/// Fields have 4-byte alignment (`f32`, `u32`, `i32`, `Vec3`, arrays of them), which is what scalar block layout gives.
#[macro_export]
macro_rules! layout {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident : $ty:ty,)* })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        #[cfg_attr(not(target_arch = "spirv"), derive(Debug, Default, PartialEq))]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* }

        #[cfg(not(target_arch = "spirv"))]
        impl $crate::gpu::Words for $name {
            fn words() -> Vec<$crate::gpu::Word> {
                let fields: &[Vec<$crate::gpu::Word>] =
                    &[$(<$ty as $crate::gpu::Words>::within(stringify!($field)),)*];
                fields.concat()
            }
        }
    )*};
}

/// Declares a stage. The file then holds `Push` (see [`layout!`](macro@crate::layout)) and a function `run`:
///
/// ```ignore
/// stage! {
///     "morton" each 256 {               // one call of `run(item, &push, &mut bindings)` an item
///         read 0 boxes: Aabb,
///         write 1 keys: u32,
///     }
/// }
/// stage! {
///     "reduce" group 256, shared u32 256 { // `run(&group, &mut shared, &push, &mut bindings)`, all lanes together
///         read 0 values: u32,
///         write 1 partials: u32,
///     }
/// }
/// ```
///
/// A stage that only needs subgroups leaves `shared` out, and its `run` gets none. With `wide` in its place, `run` is
/// told what a lane works on at once: `run::<F: OfPoints>`. On Vulkan that is one point of a manifold, or all four where
/// the specialisation constant [`POINTS`](crate::gpu::POINTS) is 4.
///
/// It makes `Bindings` (what `run` gets), the entry point `"morton"`, and on the host `STAGE` and `Bind`, the typed
/// set of buffers that a plan fills in.
#[macro_export]
macro_rules! stage {
    ($name:literal each $threads:tt { $($access:ident $binding:tt $field:ident : $ty:ty,)* }) => {
        $crate::stage!(@bindings $name { $($access $binding $field: $ty,)* });

        #[cfg(target_arch = "spirv")]
        #[doc = "GPU entry point."]
        #[spirv_std::spirv(compute(threads($threads), entry_point_name = $name))]
        pub fn entry(
            #[spirv(workgroup_id)] group: spirv_std::glam::UVec3,
            #[spirv(num_workgroups)] groups: spirv_std::glam::UVec3,
            #[spirv(local_invocation_index)] lane: u32,
            #[spirv(push_constant)] push: &Push,
            $(#[spirv(storage_buffer, descriptor_set = 0, binding = $binding)] $field: $crate::stage!(@slice $access $ty),)*
        ) {
            let item = (group.y * groups.x + group.x) * $threads + lane;
            let mut bindings = Bindings { $($field: $crate::stage!(@view $access $field),)* };
            run(item, push, &mut bindings);
        }

        #[cfg(not(target_arch = "spirv"))]
        $crate::stage!(@describe $name $threads { $($access $binding $field: $ty,)* } |call, groups| {
            for item in groups.start * $threads..groups.end * $threads {
                run(item, &call.0, call.1);
            }
        });
    };

    ($name:literal group $threads:tt, wide { $($access:ident $binding:tt $field:ident : $ty:ty,)* }) => {
        $crate::stage!(@bindings $name { $($access $binding $field: $ty,)* });

        #[cfg(target_arch = "spirv")]
        #[doc = "GPU entry point."]
        #[spirv_std::spirv(compute(threads($threads), entry_point_name = $name))]
        pub fn entry(
            #[spirv(spec_constant(id = 1, default = 1))] points: u32,
            #[spirv(workgroup_id)] group: spirv_std::glam::UVec3,
            #[spirv(num_workgroups)] groups: spirv_std::glam::UVec3,
            #[spirv(local_invocation_index)] lane: u32,
            #[spirv(subgroup_id)] subgroup: u32,
            #[spirv(num_subgroups)] subgroups: u32,
            #[spirv(subgroup_local_invocation_id)] slot: u32,
            #[spirv(push_constant)] push: &Push,
            $(#[spirv(storage_buffer, descriptor_set = 0, binding = $binding)] $field: $crate::stage!(@slice $access $ty),)*
        ) {
            let group = $crate::gpu::Group {
                index: group.y * groups.x + group.x, lane, lanes: $threads, subgroup, subgroups, slot,
            };
            let mut bindings = Bindings { $($field: $crate::stage!(@view $access $field),)* };
            // Drivers know the constant when they compile, and leave the other out.
            if points == 4 {
                run::<$crate::gpu::Four>(&group, push, &mut bindings);
            } else {
                run::<f32>(&group, push, &mut bindings);
            }
        }

        #[cfg(not(target_arch = "spirv"))]
        $crate::stage!(@describe $name $threads { $($access $binding $field: $ty,)* } |call, groups| {
            for index in groups {
                run::<W>(&$crate::gpu::Group::native(index), &call.0, call.1);
            }
        });
    };

    ($name:literal group $threads:tt $(, shared $shared:tt $len:tt)? { $($access:ident $binding:tt $field:ident : $ty:ty,)* }) => {
        $crate::stage!(@bindings $name { $($access $binding $field: $ty,)* });

        $(#[doc = "Workgroup memory of the stage."]
        pub type Shared = [$shared; $len];)?

        $crate::stage!(@group_entry $name $threads $(, shared $shared $len)? { $($access $binding $field: $ty,)* } run);

        #[cfg(not(target_arch = "spirv"))]
        $crate::stage!(@describe $name $threads { $($access $binding $field: $ty,)* } |call, groups| {
            $(let shared: &mut Shared = &mut [Default::default(); $len];)?
            for index in groups {
                let group = $crate::gpu::Group::native(index);
                run(&group, $($crate::stage!(@shared shared $len),)? &call.0, call.1);
            }
        });
    };

    (@group_entry $name:literal $threads:tt $(, shared $shared:tt $len:tt)? { $($access:ident $binding:tt $field:ident : $ty:ty,)* } $run:expr) => {
        #[cfg(target_arch = "spirv")]
        #[doc = "GPU entry point."]
        #[spirv_std::spirv(compute(threads($threads), entry_point_name = $name))]
        pub fn entry(
            #[spirv(workgroup_id)] group: spirv_std::glam::UVec3,
            #[spirv(num_workgroups)] groups: spirv_std::glam::UVec3,
            #[spirv(local_invocation_index)] lane: u32,
            #[spirv(subgroup_id)] subgroup: u32,
            #[spirv(num_subgroups)] subgroups: u32,
            #[spirv(subgroup_local_invocation_id)] slot: u32,
            #[spirv(push_constant)] push: &Push,
            $(#[spirv(workgroup)] shared: &mut [$shared; $len],)?
            $(#[spirv(storage_buffer, descriptor_set = 0, binding = $binding)] $field: $crate::stage!(@slice $access $ty),)*
        ) {
            let group = $crate::gpu::Group {
                index: group.y * groups.x + group.x, lane, lanes: $threads, subgroup, subgroups, slot,
            };
            let mut bindings = Bindings { $($field: $crate::stage!(@view $access $field),)* };
            $run(&group, $($crate::stage!(@shared shared $len),)? push, &mut bindings);
        }
    };

    (@bindings $name:literal { $($access:ident $binding:tt $field:ident : $ty:ty,)* }) => {
        #[doc = concat!("Buffers of `", $name, "` as its `run` sees them.")]
        pub struct Bindings<'a> {
            $(#[doc = concat!("`", stringify!($access), "`, binding ", stringify!($binding), ".")]
            pub $field: $crate::stage!(@field $access $ty),)*
        }
    };

    (@describe $name:literal $threads:tt { $($access:ident $binding:tt $field:ident : $ty:ty,)* } |$call:ident, $groups:ident| $loop:block) => {
        #[doc = concat!("Buffers of a recording for `", $name, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub struct Bind {
            $(#[doc = concat!("`", stringify!($access), "`, binding ", stringify!($binding), ".")]
            pub $field: $crate::gpu::Buffer<$ty>,)*
        }

        impl Bind {
            /// The stage over these buffers with these push constants.
            pub fn with(self, push: Push) -> $crate::gpu::Invocation {
                $crate::gpu::Invocation {
                    stage: &STAGE,
                    buffers: vec![$(self.$field.id()),*],
                    push: bytemuck::bytes_of(&push).to_vec(),
                }
            }
        }

        #[doc = concat!("The stage `", $name, "`.")]
        pub static STAGE: $crate::gpu::Stage = $crate::gpu::Stage {
            name: $name,
            threads: $threads,
            push_size: size_of::<Push>() as u32,
            bindings: &[$($crate::gpu::Binding {
                number: $binding,
                name: stringify!($field),
                access: $crate::stage!(@access $access),
                stride: size_of::<$ty>() as u32,
                words: <$ty as $crate::gpu::Words>::words,
            }),*],
            push_text: |bytes| format!("{:?}", bytemuck::pod_read_unaligned::<Push>(bytes)),
            run: choose,
            baseline,
        };

        /// Runs workgroups natively, on the instructions that every processor of the kind has. Wide stages take as much
        /// at once as `W` holds; the others are the same for all `W`. The engine calls [`STAGE`]'s `run`, which knows
        /// the processor; tests call this to compare.
        ///
        /// # Safety
        /// As for [`Stage::run`](crate::gpu::Stage::run).
        // Only wide stages ask what it is.
        #[allow(clippy::extra_unused_type_parameters)]
        #[inline(always)]
        pub unsafe fn native<W: $crate::gpu::OfPoints>(call: $crate::gpu::Call<'_>, $groups: core::ops::Range<u32>) {
            let push: Push = bytemuck::pod_read_unaligned(call.push);
            let mut bindings = {
                let mut buffers = call.buffers.iter();
                // SAFETY: the caller keeps `Stage::run`'s contract: a live, aligned buffer for every binding.
                unsafe { Bindings { $($field: $crate::stage!(@native $access $ty, buffers),)* } }
            };
            let $call = (push, &mut bindings);
            $loop
        }

        // The same code with the instructions of the last ten years, for processors that have them. Rust fuses no
        // multiplications and additions by itself, so the bits are the same.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn native_v3(call: $crate::gpu::Call<'_>, groups: core::ops::Range<u32>) {
            // SAFETY: the caller's contract is the same; the processor has the registers.
            unsafe { native::<$crate::gpu::WideV3>(call, groups) }
        }

        unsafe fn baseline(call: $crate::gpu::Call<'_>, groups: core::ops::Range<u32>) {
            // SAFETY: the contract is the caller's.
            unsafe { native::<$crate::gpu::Wide>(call, groups) }
        }

        unsafe fn choose(call: $crate::gpu::Call<'_>, groups: core::ops::Range<u32>) {
            #[cfg(target_arch = "x86_64")]
            if $crate::gpu::has_v3() {
                // SAFETY: the processor has the instructions; the contract is the caller's.
                return unsafe { native_v3(call, groups) };
            }
            // SAFETY: the contract is the caller's.
            unsafe { baseline(call, groups) }
        }
    };

    (@shared $shared:ident $len:tt) => { $shared };
    (@slice read $ty:ty) => { &[$ty] };
    (@slice $access:ident $ty:ty) => { &mut [$ty] };
    (@field read $ty:ty) => { $crate::gpu::Read<'a, $ty> };
    (@field $access:ident $ty:ty) => { $crate::gpu::Write<'a, $ty> };
    (@view read $field:ident) => { $crate::gpu::Read::new($field) };
    (@view $access:ident $field:ident) => { $crate::gpu::Write::new($field) };
    (@access read) => { $crate::gpu::Access::Read };
    (@access write) => { $crate::gpu::Access::Write };
    (@access update) => { $crate::gpu::Access::Update };
    (@native read $ty:ty, $buffers:ident) => {{
        let buffer = $buffers.next().expect("a buffer for every binding");
        $crate::gpu::Read::<$ty>::new(buffer.start.cast(), buffer.size / size_of::<$ty>())
    }};
    (@native $access:ident $ty:ty, $buffers:ident) => {{
        let buffer = $buffers.next().expect("a buffer for every binding");
        $crate::gpu::Write::<$ty>::new(buffer.start.cast(), buffer.size / size_of::<$ty>())
    }};
}
