/* drystone: physics for hosts with a Vulkan renderer, and on the CPU. MIT OR Apache-2.0.
 *
 * Made by cbindgen from engine/src/ffi: change it there, then run tools/c-library --header.
 *
 *   drystone_vulkan_support   before vkCreateDevice: what a physical device lacks
 *   drystone_vulkan_enable    sets the features in the chain for vkCreateDevice
 *   drystone_kernels_create   pipelines of a device, shared by its steppers
 *   drystone_stepper_create_* a world, in the host's frames or on the CPU
 *   drystone_add_body ...     at any time between steps
 *   every frame:
 *     drystone_prepare        the host's work of a step; may allocate
 *     drystone_record         into the host's command buffer; does not submit, wait or allocate (on the CPU: drystone_run)
 *     drystone_poses          the buffer to draw from; drystone_soft_vertices that of soft bodies
 *     drystone_record_poses   poses between two frames, into a buffer of the host's
 *     drystone_poll           what earlier frames did; never waits
 *     drystone_record_queries what rays and shapes meet, behind the frame (on the CPU: drystone_query)
 *
 * Pointers. Each is NULL or points to what its type says, alive during the call. One that must not be NULL and is gives
 * DRYSTONE_RESULT_ERROR_POINTER. Nothing is kept but what a function says it keeps. Objects are destroyed once, before the
 * device they were made from.
 *
 * Structs. Each begins with `struct_size`, which the host sets to sizeof the struct, also before one is filled in. A host from
 * an older header says less: fields behind its last have the values of drystone_*_defaults. A host from a newer header says
 * more: what this library does not know must be 0, or the call fails with DRYSTONE_RESULT_ERROR_STRUCT_SIZE. Of structs that
 * are filled in, as many bytes are written as both sides know, and what only the host knows becomes 0. In lists all structs
 * have the size of the first. DrystoneBodyPose and DrystoneSoftVertex lie in device memory and have versions
 * instead.
 *
 * Errors. Functions return a DrystoneResult, negative for errors; drystone_last_error has the words, by thread. A call that
 * failed has changed nothing, unless it says so. Nothing unwinds into the host: a fault of the library is
 * DRYSTONE_RESULT_ERROR_PANIC, and its stepper can only be destroyed then.
 *
 * Threads. Any thread may call; calls with the same stepper wait for each other.
 *
 * Vectors are x, y, z; rotations x, y, z and the scalar part; metres, kilograms, seconds, radians.
 */


#ifndef DRYSTONE_H
#define DRYSTONE_H

#include <stddef.h>
#include <stdint.h>
/* Vulkan's handles as vulkan.h declares them on 64-bit hosts, for hosts that include it later or not at all. */
#ifndef VULKAN_CORE_H_
typedef struct VkInstance_T *VkInstance;
typedef struct VkPhysicalDevice_T *VkPhysicalDevice;
typedef struct VkDevice_T *VkDevice;
typedef struct VkCommandBuffer_T *VkCommandBuffer;
typedef struct VkBuffer_T *VkBuffer;
typedef struct VkDeviceMemory_T *VkDeviceMemory;
typedef struct VkPipelineCache_T *VkPipelineCache;
typedef void (*PFN_vkVoidFunction)(void);
typedef PFN_vkVoidFunction (*PFN_vkGetInstanceProcAddr)(VkInstance instance, const char *name);
#endif


// Room for the name of a device.
#define DRYSTONE_NAME_SIZE 256

// Room for the list of what a device lacks.
#define DRYSTONE_MISSING_SIZE 1024

// The layout of `DrystoneBodyPose` that this header has.
#define DRYSTONE_POSE_VERSION 1

// Room for the name of a pass or a buffer.
#define DRYSTONE_LABEL_SIZE 64

// The layout of `DrystoneSoftVertex` that this header has.
#define DRYSTONE_SOFT_VERTEX_VERSION 1

// What a call came to. Negative values are errors; `drystone_last_error` has the words.
enum DrystoneResult
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done.
    DRYSTONE_RESULT_OK = 0,
    // There is nothing to be had (yet). Not an error.
    DRYSTONE_RESULT_NOTHING = 1,
    // A pointer that has to be there is NULL, or not aligned.
    DRYSTONE_RESULT_ERROR_POINTER = -1,
    // `struct_size` is not one that this library can make sense of.
    DRYSTONE_RESULT_ERROR_STRUCT_SIZE = -2,
    // A value is out of its range, or makes no sense together with others.
    DRYSTONE_RESULT_ERROR_VALUE = -3,
    // The body or joint was removed, or never was.
    DRYSTONE_RESULT_ERROR_STALE = -4,
    // The device lacks something that the kernels need.
    DRYSTONE_RESULT_ERROR_UNSUPPORTED = -5,
    // No memory, on the device or on the host, or more than was allowed.
    DRYSTONE_RESULT_ERROR_OUT_OF_MEMORY = -6,
    // The device was lost. Destroy everything that was made from it.
    DRYSTONE_RESULT_ERROR_DEVICE_LOST = -7,
    // As many frames are pending as there may be: wait for one.
    DRYSTONE_RESULT_ERROR_FRAME_IN_FLIGHT = -8,
    // A Vulkan call failed for another reason.
    DRYSTONE_RESULT_ERROR_VULKAN = -9,
    // Nothing was prepared.
    DRYSTONE_RESULT_ERROR_NOT_PREPARED = -10,
    // The stepper has another backend than the call is for.
    DRYSTONE_RESULT_ERROR_BACKEND = -11,
    // A snapshot that is refused, or a frame that is not kept.
    DRYSTONE_RESULT_ERROR_SNAPSHOT = -12,
    // A fault in the library. The object it happened in can only be destroyed.
    DRYSTONE_RESULT_ERROR_PANIC = -13,
    // Anything else.
    DRYSTONE_RESULT_ERROR_OTHER = -14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneResult DrystoneResult;
#else
typedef int32_t DrystoneResult;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Shapes of colliders.
enum DrystoneShape
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A ball: `radius`.
    DRYSTONE_SHAPE_SPHERE = 0,
    // A box: `half`, half of its sides.
    DRYSTONE_SHAPE_BOX = 1,
    // A cylinder along y with round ends: `half_height` of the straight part, `radius`.
    DRYSTONE_SHAPE_CAPSULE = 2,
    // A cylinder along y with flat ends: `half_height`, `radius`.
    DRYSTONE_SHAPE_CYLINDER = 3,
    // A cone along y, its base `half_height` below the origin, its apex as far above; `radius` of the base.
    DRYSTONE_SHAPE_CONE = 4,
    // The convex hull of `points`.
    DRYSTONE_SHAPE_HULL = 5,
    // Everything below the plane through the origin at right angles to y. For static bodies only.
    DRYSTONE_SHAPE_HALF_SPACE = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneShape DrystoneShape;
#else
typedef uint32_t DrystoneShape;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What may move a body.
enum DrystoneBodyKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Forces.
    DRYSTONE_BODY_KIND_DYNAMIC = 0,
    // Its velocity, and nothing else.
    DRYSTONE_BODY_KIND_KINEMATIC = 1,
    // Nothing.
    DRYSTONE_BODY_KIND_STATIC = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneBodyKind DrystoneBodyKind;
#else
typedef uint32_t DrystoneBodyKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How the coefficients of two colliders that touch become one. Of two different rules the later one in this list
// counts.
enum DrystoneCombine
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The root of their product.
    DRYSTONE_COMBINE_GEOMETRIC_MEAN = 0,
    // Half of their sum.
    DRYSTONE_COMBINE_AVERAGE = 1,
    // The smaller one.
    DRYSTONE_COMBINE_MIN = 2,
    // Their product.
    DRYSTONE_COMBINE_MULTIPLY = 3,
    // The larger one.
    DRYSTONE_COMBINE_MAX = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneCombine DrystoneCombine;
#else
typedef uint32_t DrystoneCombine;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which contacts of a collider are told by events.
enum DrystoneReports
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Those that begin.
    DRYSTONE_REPORTS_BEGIN = 1,
    // Those that go on, in every step.
    DRYSTONE_REPORTS_PERSIST = 2,
    // Those that end.
    DRYSTONE_REPORTS_END = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneReports DrystoneReports;
#else
typedef uint32_t DrystoneReports;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Kinds of joints. The coordinates are those of `DrystoneJointAxis`.
enum DrystoneJointKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Two points that stay together.
    DRYSTONE_JOINT_KIND_BALL = 0,
    // Turns about the x axis of its frames.
    DRYSTONE_JOINT_KIND_HINGE = 1,
    // Slides along the x axis of its frames.
    DRYSTONE_JOINT_KIND_SLIDER = 2,
    // Frames that stay together.
    DRYSTONE_JOINT_KIND_FIXED = 3,
    // Two points that keep the distance `length`.
    DRYSTONE_JOINT_KIND_ROD = 4,
    // Two points that are no farther apart than `length`.
    DRYSTONE_JOINT_KIND_ROPE = 5,
    // A spring between two points: `length` at rest, `stiffness`, `damping`.
    DRYSTONE_JOINT_KIND_SPRING = 6,
    // Holds nothing by itself: `axes` say all.
    DRYSTONE_JOINT_KIND_GENERIC = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneJointKind DrystoneJointKind;
#else
typedef uint32_t DrystoneJointKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A coordinate of a joint: of a's point and frame, seen from b's.
enum DrystoneJointAxis
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Along b's x axis, metres.
    DRYSTONE_JOINT_AXIS_X = 0,
    // Along b's y axis.
    DRYSTONE_JOINT_AXIS_Y = 1,
    // Along b's z axis.
    DRYSTONE_JOINT_AXIS_Z = 2,
    // About a's x axis, radians.
    DRYSTONE_JOINT_AXIS_TWIST = 3,
    // Of a's x axis about b's y axis.
    DRYSTONE_JOINT_AXIS_SWING_Y = 4,
    // Of a's x axis about b's z axis.
    DRYSTONE_JOINT_AXIS_SWING_Z = 5,
    // Between the two points, metres.
    DRYSTONE_JOINT_AXIS_DISTANCE = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneJointAxis DrystoneJointAxis;
#else
typedef uint32_t DrystoneJointAxis;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where a coordinate of a joint may go.
enum DrystoneHold
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // As the kind of the joint has it.
    DRYSTONE_HOLD_BY_KIND = 0,
    // Anywhere.
    DRYSTONE_HOLD_FREE = 1,
    // It stays at `low`.
    DRYSTONE_HOLD_AT = 2,
    // From `low` to `high`, which may be infinite.
    DRYSTONE_HOLD_BETWEEN = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneHold DrystoneHold;
#else
typedef uint32_t DrystoneHold;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What moves a coordinate of a joint.
enum DrystoneDrive
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // As the kind of the joint has it.
    DRYSTONE_DRIVE_BY_KIND = 0,
    // Nothing.
    DRYSTONE_DRIVE_NONE = 1,
    // A motor with the speed `target` and at most the force, or torque, `max`.
    DRYSTONE_DRIVE_SPEED = 2,
    // A motor that holds the value `target` with at most `max`.
    DRYSTONE_DRIVE_POSITION = 3,
    // A spring towards `target` with `stiffness` and `damping`, and at most `max`.
    DRYSTONE_DRIVE_SPRING = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneDrive DrystoneDrive;
#else
typedef uint32_t DrystoneDrive;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Whether bodies of a joint touch each other.
enum DrystoneCollide
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // As the kind of the joint has it: those of rods, ropes and springs do.
    DRYSTONE_COLLIDE_BY_KIND = 0,
    // They do.
    DRYSTONE_COLLIDE_TOUCH = 1,
    // They do not.
    DRYSTONE_COLLIDE_APART = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneCollide DrystoneCollide;
#else
typedef uint32_t DrystoneCollide;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happens to a step in a host's frames whose lists turn out to be too short. They are longer in a later frame
// either way.
enum DrystoneOverflow
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It is left out, and its report counts it as dropped.
    DRYSTONE_OVERFLOW_SKIP = 0,
    // It is made without the pairs or contacts that did not fit.
    DRYSTONE_OVERFLOW_PARTIAL = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneOverflow DrystoneOverflow;
#else
typedef uint32_t DrystoneOverflow;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What can happen.
enum DrystoneEventKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Something that this version of the interface has no words for.
    DRYSTONE_EVENT_KIND_OTHER = 0,
    // The state of `body` was not finite: it was put back to where it was before, and takes no further part.
    DRYSTONE_EVENT_KIND_QUARANTINED = 1,
    // A list was too short and was made longer: `from` to `to` elements.
    DRYSTONE_EVENT_KIND_GROWN = 2,
    // For the first time, `to` bodies found no colour and were solved in turn.
    DRYSTONE_EVENT_KIND_FALLBACK = 3,
    // `joint` broke under `force` and `torque`.
    DRYSTONE_EVENT_KIND_BROKEN = 4,
    // Collider `other_collider` of `other` began to overlap the sensor `collider` of `body`.
    DRYSTONE_EVENT_KIND_SENSOR_BEGIN = 5,
    // It no longer overlaps it.
    DRYSTONE_EVENT_KIND_SENSOR_END = 6,
    // Collider `collider` of `body` and `other_collider` of `other` began to push each other, and one of them asked
    // for it: `DrystoneCollider.reports`.
    DRYSTONE_EVENT_KIND_CONTACT_BEGIN = 7,
    // They go on pushing each other.
    DRYSTONE_EVENT_KIND_CONTACT_PERSIST = 8,
    // They no longer push each other: neither `impulse` nor `point`.
    DRYSTONE_EVENT_KIND_CONTACT_END = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneEventKind DrystoneEventKind;
#else
typedef uint32_t DrystoneEventKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What memory is used for.
enum DrystoneMemoryLocation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // By the device only.
    DRYSTONE_MEMORY_LOCATION_DEVICE = 0,
    // Written by the host, read by the device: mapped and coherent.
    DRYSTONE_MEMORY_LOCATION_UPLOAD = 1,
    // Written by the device, read by the host: mapped and coherent.
    DRYSTONE_MEMORY_LOCATION_READBACK = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneMemoryLocation DrystoneMemoryLocation;
#else
typedef uint32_t DrystoneMemoryLocation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Kinds of queries.
enum DrystoneQueryKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // What a ray from `position` along `direction` meets first, no farther than `reach`.
    DRYSTONE_QUERY_KIND_RAY = 0,
    // What `shape` meets first that moves by `direction`, without turning.
    DRYSTONE_QUERY_KIND_CAST = 1,
    // What `shape` overlaps: up to `most` colliders one by one, those with the lowest body slots and collider numbers.
    DRYSTONE_QUERY_KIND_OVERLAP = 2,
    // What is nearest to `shape`, or to the point `position` when there is none, no farther than `reach`.
    DRYSTONE_QUERY_KIND_CLOSEST = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneQueryKind DrystoneQueryKind;
#else
typedef uint32_t DrystoneQueryKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Lists of a world.
enum DrystoneList
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Bodies, by `drystone_body_slot`.
    DRYSTONE_LIST_BODIES = 0,
    // Colliders, those of a body side by side.
    DRYSTONE_LIST_COLLIDERS = 1,
    // Joints, by `drystone_joint_slot`.
    DRYSTONE_LIST_JOINTS = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum DrystoneList DrystoneList;
#else
typedef uint32_t DrystoneList;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Pipelines of a device, shared by all its steppers. Any thread may use it.
typedef struct DrystoneKernels DrystoneKernels;

// A world on a device. Calls from several threads wait for each other.
typedef struct DrystoneStepper DrystoneStepper;

// What a physical device offers, as far as this library cares. Vulkan 1.2 and no extensions are needed.
typedef struct {
    // sizeof(DrystoneSupport).
    uint32_t struct_size;
    // 1 when the device can run the kernels.
    uint32_t usable;
    // A queue family that computes, one that does nothing else if there is one; UINT32_MAX when there is none.
    uint32_t compute_family;
    // Lanes a subgroup.
    uint32_t subgroup_size;
    // 1 when it is a driver that runs on the CPU.
    uint32_t is_cpu;
    // 0.
    uint32_t reserved;
    // Name of the device.
    char device_name[DRYSTONE_NAME_SIZE];
    // Everything that it lacks, in words; empty when it is usable.
    char missing[DRYSTONE_MISSING_SIZE];
} DrystoneSupport;

// The host's Vulkan. Nothing of it is owned by this library: it is all alive until everything made from it is
// destroyed.
typedef struct {
    // sizeof(DrystoneVulkanHost).
    uint32_t struct_size;
    // Family of the queue that the command buffers go to.
    uint32_t queue_family;
    // The loader's, or whatever else finds functions of the instance.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    // Made for Vulkan 1.2 or later.
    VkInstance instance;
    // The physical device.
    VkPhysicalDevice physical_device;
    // Made with the features of `drystone_vulkan_enable`.
    VkDevice device;
    // A cache for the pipelines, or VK_NULL_HANDLE.
    VkPipelineCache pipeline_cache;
    // 1 when VK_EXT_debug_utils is enabled on the instance: objects and passes get names.
    uint32_t debug_utils;
    // 0.
    uint32_t reserved;
    // A VkAllocationCallbacks, or NULL. It is copied; its functions may be called by any thread, until everything made
    // from this is destroyed. Device memory is allocated without it.
    const void *allocation_callbacks;
} DrystoneVulkanHost;

// Memory for a buffer, as it is asked for. `struct_size` is that of the library's header.
typedef struct {
    // sizeof(DrystoneMemoryRequest).
    uint32_t struct_size;
    // A `DrystoneMemoryLocation`.
    uint32_t location;
    // Bytes, at least.
    uint64_t size;
    // The offset is a multiple of this.
    uint64_t alignment;
    // VkMemoryRequirements.memoryTypeBits.
    uint32_t memory_type_bits;
    // 0.
    uint32_t reserved;
    // What it is for, until the call returns.
    const char *name;
} DrystoneMemoryRequest;

// Memory that a host gave. `struct_size` is set, and the rest is 0, when it is to be filled in.
typedef struct {
    // sizeof(DrystoneMemory).
    uint32_t struct_size;
    // 0.
    uint32_t reserved;
    // The memory object.
    VkDeviceMemory memory;
    // First byte in it.
    uint64_t offset;
    // Bytes from there.
    uint64_t size;
    // Address of the first byte on the host, where it is to be mapped; or NULL.
    void *mapped;
    // For the host's own use.
    uint64_t token;
} DrystoneMemory;

// Allocates memory: fills in `memory` and returns 0, or returns anything else when there is none.
typedef int32_t (*DrystoneAllocate)(void *user, const DrystoneMemoryRequest *request, DrystoneMemory *memory);

// Takes memory back. The device no longer uses it.
typedef void (*DrystoneFree)(void *user, const DrystoneMemory *memory);

// A host's allocator of device memory. Its functions are called by the thread that calls the library, one call at a
// time for a stepper, when buffers are made and when they go: in `drystone_stepper_create_vulkan`, `drystone_prepare`,
// `drystone_restore`, those with `reserve` in their name and `drystone_stepper_destroy`, never in `drystone_record`.
// They must not call the library with the same stepper. What they give is memory of the host's device, as the request
// asks, and nobody else's until it is taken back; all of it is when the stepper is destroyed.
typedef struct {
    // sizeof(DrystoneAllocator).
    uint32_t struct_size;
    // 0.
    uint32_t reserved;
    // Handed to both functions.
    void *user;
    // Allocates.
    DrystoneAllocate allocate;
    // Takes back.
    DrystoneFree free;
} DrystoneAllocator;

// A buffer of the host's own, with an element for every body, collider or joint. It begins with zeros, is carried over
// when lists grow, and is in snapshots and frames that are kept.
typedef struct {
    // sizeof(DrystoneUserBuffer).
    uint32_t struct_size;
    // A `DrystoneList`.
    uint32_t each;
    // Its name, which no other buffer has. It is copied.
    const char *name;
    // Bytes an element, a multiple of 4.
    uint32_t stride;
    // 0.
    uint32_t reserved;
} DrystoneUserBuffer;

// Choices when a stepper is made. Begin with `drystone_stepper_defaults`.
typedef struct {
    // sizeof(DrystoneStepperDesc).
    uint32_t struct_size;
    // Recorded frames that may be pending at the same time: 2 by default. Vulkan only.
    uint32_t frames_in_flight;
    // A `DrystoneOverflow`. Vulkan only: on the CPU such a step is repeated.
    uint32_t overflow;
    // 1 to take the time of every step. Vulkan only.
    uint32_t timing;
    // Threads of the CPU backend; 0, the default: as many as there are cores.
    uint32_t threads;
    // Bodies there is room for at first. This and the following grow when they are not enough; 0, the default: little.
    uint32_t bodies;
    // Colliders there is room for at first.
    uint32_t colliders;
    // Pairs of overlapping boxes there is room for at first.
    uint32_t pairs;
    // Pairs that touch there is room for at first.
    uint32_t manifolds;
    // Joints there is room for at first.
    uint32_t joints;
    // Bytes that buffers may have together; 0, the default: as many as there are.
    uint64_t memory_limit;
    // Acceleration of everything that falls: earth's along -y by default.
    float gravity[3];
    // 1 to record the commands of a step once, when lists grow or settings change, and only call them in a frame:
    // recording is then a matter of microseconds. Command buffers must be primary ones, outside of render passes.
    // Vulkan only.
    uint32_t recorded_once;
    // Events of a frame that are told one by one, at most; those beyond are counted. 0, the default: by the size of
    // the world, up to 4096.
    uint32_t events;
    // How many queue families `shared_families` has.
    uint32_t shared_family_count;
    // Queue families that use the library's buffers beside `DrystoneVulkanHost.queue_family`: then they are made with
    // VK_SHARING_MODE_CONCURRENT. They are copied. Vulkan only.
    const uint32_t *shared_families;
    // Where device memory comes from, or NULL. It is copied. Vulkan only.
    const DrystoneAllocator *allocator;
    // Buffers of the host's own. They are copied.
    const DrystoneUserBuffer *user_buffers;
    // How many there are.
    uint32_t user_buffer_count;
    // 0.
    uint32_t reserved;
} DrystoneStepperDesc;

// What a frame did.
typedef struct {
    // sizeof(DrystoneReport).
    uint32_t struct_size;
    // Sub-steps that were left out because a list was too short.
    uint32_t dropped;
    // Number of the frame, from 1 on.
    uint64_t frame;
    // Pairs of overlapping boxes.
    uint32_t pairs;
    // Pairs that touch.
    uint32_t manifolds;
    // Bodies that found no colour and were solved in turn.
    uint32_t fallback_bodies;
    // How often a list overflowed, was made longer, and the step repeated. CPU only.
    uint32_t grown;
    // 1 when the world was rolled back or restored behind the frame: then it counts for nothing.
    uint32_t undone;
    // Events of the frame, to be had by `drystone_report_event`.
    uint32_t event_count;
    // Events beyond those there was room for.
    uint32_t events_lost;
    // Passes whose time was taken, to be had by `drystone_report_pass`.
    uint32_t pass_count;
    // Time of all passes together, nanoseconds; 0 when nothing was timed.
    uint64_t nanoseconds;
} DrystoneReport;

// What the host's own commands do with the engine's buffers before or behind a frame.
typedef struct {
    // sizeof(DrystoneAccess).
    uint32_t struct_size;
    // VkPipelineStageFlags: stages that read or write.
    uint32_t stages;
    // VkAccessFlags: what they do there.
    uint32_t access;
    // 1 when they are on a queue of another family, `queue_family`: see `drystone_record`. 0: on the same queue.
    uint32_t transfer;
    // With `transfer`: the family that the buffers of `DrystonePoseView` come from on entry, or go to on exit.
    uint32_t queue_family;
} DrystoneAccess;

// Where the poses of all bodies lie: `DrystoneBodyPose` by body slot, as instance data or as a storage buffer.
typedef struct {
    // sizeof(DrystonePoseView).
    uint32_t struct_size;
    // DRYSTONE_POSE_VERSION: another number is another layout.
    uint32_t version;
    // Poses behind the frame that was recorded last.
    VkBuffer current;
    // Poses behind the frame before it.
    VkBuffer previous;
    // First byte in either.
    uint64_t offset;
    // Changes whenever the buffers do.
    uint64_t generation;
    // Bytes from one body to the next.
    uint32_t stride;
    // Body slots there is room for.
    uint32_t count;
} DrystonePoseView;

// Names a body; 0 names none. It stays unique when its slot is used again. `drystone_body_slot` tells the slot.
typedef uint64_t DrystoneBody;

// Names a joint; 0 names none.
typedef uint64_t DrystoneJoint;

// Something that happened in a step.
typedef struct {
    // sizeof(DrystoneEvent).
    uint32_t struct_size;
    // A `DrystoneEventKind`.
    uint32_t kind;
    // The step, counted from 0, sub-steps included.
    uint64_t step;
    // The body, or the one that the sensor is on.
    DrystoneBody body;
    // The body that overlaps a sensor.
    DrystoneBody other;
    // The joint.
    DrystoneJoint joint;
    // Which collider of `body` the sensor is.
    uint32_t collider;
    // Which collider of `other` overlaps it.
    uint32_t other_collider;
    // Newtons.
    float force;
    // Newton metres.
    float torque;
    // Length of a list before.
    uint32_t from;
    // Length of a list now, or a number of bodies.
    uint32_t to;
    // What a contact did to `body` in the step, friction included, newton seconds; `other` got the opposite.
    float impulse[3];
    // Where, in world space at the start of the step.
    float point[3];
} DrystoneEvent;

// Time of a pass in a frame: all its dispatches in all sub-steps together.
typedef struct {
    // sizeof(DrystonePass).
    uint32_t struct_size;
    // How often it ran.
    uint32_t runs;
    // All of them together.
    uint64_t nanoseconds;
    // Its name, the same as in debuggers and in `drystone passes`.
    char name[DRYSTONE_LABEL_SIZE];
} DrystonePass;

// Memory of a buffer, or of several that are not in use at the same time.
typedef struct {
    // sizeof(DrystoneMemoryUse).
    uint32_t struct_size;
    // 0.
    uint32_t reserved;
    // Bytes.
    uint64_t bytes;
    // What it is.
    char name[DRYSTONE_LABEL_SIZE];
} DrystoneMemoryUse;

// A shape on a body, and what it is made of. Begin with `drystone_collider_defaults`.
typedef struct {
    // sizeof(DrystoneCollider).
    uint32_t struct_size;
    // A `DrystoneShape`.
    uint32_t shape;
    // Points of a hull, 3 floats each. They are copied.
    const float *points;
    // How many points there are.
    uint32_t point_count;
    // Of spheres, capsules, cylinders and cones, metres.
    float radius;
    // Half of a box's sides.
    float half[3];
    // Of capsules, cylinders and cones.
    float half_height;
    // In body space.
    float position[3];
    // In body space: x, y, z and the scalar part.
    float rotation[4];
    // Kilograms a cubic metre: 1000 by default.
    float density;
    // Friction coefficient while it sticks: 0.5 by default.
    float friction_static;
    // Friction coefficient while it slides: 0.5 by default.
    float friction_dynamic;
    // Lever of the torque against rolling, metres.
    float friction_rolling;
    // The same against spinning about the normal of a contact.
    float friction_torsional;
    // Part of the speed of an impact that is left after it, 0 to 1.
    float restitution;
    // A `DrystoneCombine`: the geometric mean by default.
    uint32_t friction_combine;
    // A `DrystoneCombine`: the larger one by default.
    uint32_t restitution_combine;
    // Velocity of its surface along itself, in body space.
    float surface_velocity[3];
    // Angular velocity of its surface about its position, in body space.
    float surface_spin[3];
    // 1 when it only reports what overlaps it.
    uint32_t sensor;
    // Groups it belongs to: the first by default.
    uint32_t groups;
    // Groups it touches: all by default. Both sides have to agree.
    uint32_t mask;
    // Contacts of which events tell, bits of `DrystoneReports`: none by default.
    uint32_t reports;
    // Impulse of a step from which on contacts count for `reports`, newton seconds; 0, the default: any.
    float report_impulse;
} DrystoneCollider;

// A body to be added. Begin with `drystone_body_defaults`.
typedef struct {
    // sizeof(DrystoneBodyDesc).
    uint32_t struct_size;
    // A `DrystoneBodyKind`.
    uint32_t kind;
    // Its shapes. They are copied.
    const DrystoneCollider *colliders;
    // How many shapes it has.
    uint32_t collider_count;
    // Of its origin, metres.
    float position[3];
    // From body space to world space: x, y, z and the scalar part.
    float rotation[4];
    // Of its centre of mass, metres a second.
    float linear_velocity[3];
    // In world space, radians a second.
    float angular_velocity[3];
    // How strongly gravity acts on it: 1 by default.
    float gravity_scale;
    // Kilograms; 0, the default: by density and volume.
    float mass;
    // Moments of inertia about the axes of body space; 0, the default: those of its shapes.
    float inertia[3];
    // A force that acts until it is changed, newtons.
    float force[3];
    // A torque that acts until it is changed.
    float torque[3];
    // Damping of its velocity, 1/s.
    float linear_damping;
    // Damping of its angular momentum, 1/s.
    float angular_damping;
    // 1 to keep it from passing through anything, however fast it is.
    uint32_t continuous;
} DrystoneBodyDesc;

// What a joint does to one of its coordinates. Begin with `drystone_axis_defaults`.
typedef struct {
    // sizeof(DrystoneAxis).
    uint32_t struct_size;
    // A `DrystoneJointAxis`.
    uint32_t axis;
    // A `DrystoneHold`.
    uint32_t hold;
    // Where it is held, or the lower limit.
    float low;
    // The upper limit.
    float high;
    // A `DrystoneDrive`.
    uint32_t drive;
    // Speed, or value, of the drive.
    float target;
    // Of a spring.
    float stiffness;
    // Of a spring.
    float damping;
    // The most that the drive pushes; infinite by default.
    float max;
    // Force, or torque, up to which the coordinate resists being moved.
    float friction;
} DrystoneAxis;

// A joint to be added. Begin with `drystone_joint_defaults`.
typedef struct {
    // sizeof(DrystoneJointDesc).
    uint32_t struct_size;
    // A `DrystoneJointKind`.
    uint32_t kind;
    // The body its coordinates are about.
    DrystoneBody body_a;
    // The body they are measured on; 0 for the world.
    DrystoneBody body_b;
    // What it does beyond its kind. They are copied.
    const DrystoneAxis *axes;
    // How many of them there are.
    uint32_t axis_count;
    // Its point on a, in body space.
    float anchor_a[3];
    // Its point on b, in body space, or in the world.
    float anchor_b[3];
    // Its frame on a, in body space.
    float frame_a[4];
    // Its frame on b, in body space, or in the world.
    float frame_b[4];
    // Of rods, ropes, and springs at rest.
    float length;
    // Of springs, newtons a metre.
    float stiffness;
    // Of springs, newton seconds a metre.
    float damping;
    // Force at which it breaks; infinite by default.
    float max_force;
    // Torque at which it breaks; infinite by default.
    float max_torque;
    // A `DrystoneCollide`.
    uint32_t collide;
    // 0.
    uint32_t reserved;
} DrystoneJointDesc;

// A soft body to be added: particles, and the triangles of cloth, tetrahedra and springs that hold them together.
// Begin with `drystone_soft_defaults`. All lists are copied.
typedef struct {
    // sizeof(DrystoneSoftDesc).
    uint32_t struct_size;
    // Number of particles.
    uint32_t particle_count;
    // Where they rest, 3 floats each: the shape to which triangles and tetrahedra return.
    const float *rest;
    // Where they are at first, 3 floats each, or NULL: where they rest.
    const float *positions;
    // How they move at first, 3 floats each, or NULL: they do not.
    const float *velocities;
    // Kilograms, a float each, or NULL: what the densities give. Particles that are on nothing but springs need it.
    const float *masses;
    // Triangles of cloth, 3 particles each. Sides that two share bend.
    const uint32_t *triangles;
    // Tetrahedra, 4 particles each.
    const uint32_t *tetrahedra;
    // Springs, 2 particles each.
    const uint32_t *springs;
    // Of every spring, 3 floats: length at rest, stiffness in N/m (infinite for one that keeps its length), damping in
    // N s/m.
    const float *spring_values;
    // Further triangles that are drawn and that rays meet, and nothing else, 3 particles each.
    const uint32_t *skin;
    // How many triangles there are.
    uint32_t triangle_count;
    // How many tetrahedra.
    uint32_t tetrahedron_count;
    // How many springs.
    uint32_t spring_count;
    // How many triangles of the skin.
    uint32_t skin_count;
    // Of cloth, kilograms a square metre.
    float cloth_density;
    // Of cloth, Young's modulus times thickness, N/m.
    float stretch;
    // Of cloth, Poisson's ratio in the plane.
    float cloth_poisson;
    // Of cloth, stiffness against bending, N m.
    float bend;
    // Of cloth, of the rate of the metric, N s/m.
    float cloth_damping;
    // Of cloth, of the rate of the angles, N m s.
    float bend_damping;
    // Of solids, kilograms a cubic metre.
    float solid_density;
    // Of solids, Young's modulus, pascals.
    float young;
    // Of solids, Poisson's ratio.
    float solid_poisson;
    // Of solids, of the rate of the metric, pascal seconds.
    float solid_damping;
    // How strongly gravity acts on it.
    float gravity_scale;
    // Distance that rigid bodies keep from particles, metres; negative, the default: a part of the length of the
    // sides. Infinite: bodies pass through it.
    float radius;
    // Coefficient of friction.
    float friction;
    // Groups it belongs to.
    uint32_t groups;
    // Groups it touches.
    uint32_t mask;
    // 1 when its surface touches soft bodies, its own among them; 0 when it passes through them.
    uint32_t meets_soft;
} DrystoneSoftDesc;

// Names a soft body; 0 names none.
typedef uint64_t DrystoneSoft;

// What holds a particle. Begin with `drystone_attachment_defaults`.
typedef struct {
    // sizeof(DrystoneAttachmentDesc).
    uint32_t struct_size;
    // Which particle of the soft body.
    uint32_t particle;
    // The soft body.
    DrystoneSoft soft;
    // The body that holds it, or 0: the world.
    DrystoneBody body;
    // 1 when `anchor` says where on the body, or in the world; 0: where the particle was described to be.
    uint32_t anchored;
    // See `anchored`.
    float anchor[3];
    // N/m; infinite by default: it does not give way.
    float stiffness;
    // Force at which it lets go, newtons; infinite by default.
    float max_force;
} DrystoneAttachmentDesc;

// Names an attachment; 0 names none.
typedef uint64_t DrystoneAttachment;

// Where the vertices of all soft bodies lie: `DrystoneSoftVertex` by particle, as vertices or as a storage buffer. They
// are handed to other queue families together with the buffers of `DrystonePoseView`.
typedef struct {
    // sizeof(DrystoneSoftVertexView).
    uint32_t struct_size;
    // DRYSTONE_SOFT_VERTEX_VERSION: another number is another layout.
    uint32_t version;
    // Vertices behind the frame that was recorded last.
    VkBuffer current;
    // Vertices behind the frame before it.
    VkBuffer previous;
    // First byte in either.
    uint64_t offset;
    // Changes whenever the buffers do.
    uint64_t generation;
    // Bytes from one vertex to the next.
    uint32_t stride;
    // Vertices there is room for.
    uint32_t count;
} DrystoneSoftVertexView;

// Position, rotation and velocities of a body.
typedef struct {
    // sizeof(DrystoneBodyState).
    uint32_t struct_size;
    // 0 when its state was not finite and it was taken out.
    uint32_t enabled;
    // Of its origin.
    float position[3];
    // From body space to world space: x, y, z and the scalar part.
    float rotation[4];
    // Of its centre of mass.
    float linear_velocity[3];
    // In world space.
    float angular_velocity[3];
} DrystoneBodyState;

// The pose of a body as its user described it, as it lies in the buffers of `DrystonePoseView`: 32 bytes. An element
// of a buffer: it has no size in front, but a version, DRYSTONE_POSE_VERSION.
typedef struct {
    // Of the body's origin, metres.
    float position[3];
    // 1 for a body that is there; 0 for a slot without one, or one that was taken out.
    uint32_t present;
    // From body space to world space: x, y, z and the scalar part, of length 1.
    float rotation[4];
} DrystoneBodyPose;

// A query. Begin with `drystone_query_defaults`.
typedef struct {
    // sizeof(DrystoneQuery).
    uint32_t struct_size;
    // A `DrystoneQueryKind`.
    uint32_t kind;
    // The shape, and nothing else of it; NULL for rays and points. A hull must be on some body that the device has.
    const DrystoneCollider *shape;
    // A body that the query does not see, or 0.
    DrystoneBody exclude;
    // Where the ray begins, or the shape is.
    float position[3];
    // Of the shape.
    float rotation[4];
    // Of a ray, of any length; or the way of a cast, metres.
    float direction[3];
    // Of rays and what is closest, metres: without an end by default.
    float reach;
    // Of overlaps: 8 by default.
    uint32_t most;
    // 1 when only what is in a group of `mask`, and touches `groups`, is seen; 0, the default: every group.
    uint32_t filtered;
    // Groups that the query is in.
    uint32_t groups;
    // Groups that it sees.
    uint32_t mask;
    // 1 when it sees sensors.
    uint32_t sensors;
    // 1 when a ray sees the surfaces of soft bodies. Other queries never do.
    uint32_t soft;
    // 0.
    uint32_t reserved;
} DrystoneQuery;

// Room for queries in a host's frames.
typedef struct {
    // sizeof(DrystoneQueryRoom).
    uint32_t struct_size;
    // Rays of a batch.
    uint32_t rays;
    // Casts.
    uint32_t casts;
    // Overlaps.
    uint32_t overlaps;
    // Colliders that all overlaps together list: the sum of their `most`.
    uint32_t overlap_hits;
    // Searches for what is closest.
    uint32_t closest;
} DrystoneQueryRoom;

// What a query met, overlaps or is nearest to.
typedef struct {
    // sizeof(DrystoneHit).
    uint32_t struct_size;
    // Which collider of the body, in the order of its description.
    uint32_t collider;
    // The body.
    DrystoneBody body;
    // Where, in world space; of overlaps nothing. Of a query that begins inside of the body, its own point or middle.
    float point[3];
    // Out of the body, of length one: against the way of a ray or cast that begins inside, zero for a search from
    // there.
    float normal[3];
    // The way to it, metres; 0 from inside.
    float distance;
    // The same as a part of the reach or the motion, 0 to 1.
    float fraction;
    // The soft body that a ray met first; then `body` is 0, and `collider` the number of the triangle, as
    // `drystone_soft_triangles` counts them.
    DrystoneSoft soft;
} DrystoneHit;

// Force and error of a joint.
typedef struct {
    // sizeof(DrystoneJointState).
    uint32_t struct_size;
    // 1 when it is broken.
    uint32_t broken;
    // On body a at its anchor in the last step, newtons in world space; b gets the opposite. Of one that broke in that
    // step, the force at which it broke.
    float force[3];
    // On body a, from what the joint does about angles, newton metres in world space.
    float torque[3];
    // How far the bodies are from where it holds them, metres; 0 when it is broken.
    double linear_error;
    // The same in radians.
    double angular_error;
} DrystoneJointState;

// Where a buffer lies that has an element by slot.
typedef struct {
    // sizeof(DrystoneBufferView).
    uint32_t struct_size;
    // Bytes from one element to the next.
    uint32_t stride;
    // The buffer, for storage, copies and instance data.
    VkBuffer buffer;
    // First byte in it.
    uint64_t offset;
    // Changes whenever the buffer does.
    uint64_t generation;
    // Elements there are.
    uint32_t count;
    // 0.
    uint32_t reserved;
} DrystoneBufferView;

// A buffer of the host's that poses are written into: one `DrystoneBodyPose` for each body slot. Bytes between the poses
// are not touched.
typedef struct {
    // sizeof(DrystonePoseTarget).
    uint32_t struct_size;
    // Bytes from one pose to the next: a multiple of 4, at least 32.
    uint32_t stride;
    // The buffer, made with VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.
    VkBuffer buffer;
    // First byte of the first pose: a multiple of 4.
    uint64_t offset;
    // Body slots there is room for; those behind them are not written.
    uint32_t count;
    // 0.
    uint32_t reserved;
} DrystonePoseTarget;

// A buffer of the host's that was lent; 0 is none.
typedef uint64_t DrystoneLentPoses;

// Force of a joint as it lies in the buffer of `drystone_joint_forces`: 24 bytes. An element of a buffer: it has no
// size in front, but `DrystoneBufferView.stride`.
typedef struct {
    // On body a at its anchor, newtons in world space.
    float force[3];
    // On body a, newton metres in world space.
    float torque[3];
} DrystoneJointForce;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What the last error of this thread was, in words. Empty when there was none. It stays valid until the next error
// on this thread.
const char *drystone_last_error(void);

// Tells what a physical device offers, before a device is made of it.
//
// # Safety
// As at the top of this header; the handles are alive and belong together.
DrystoneResult drystone_vulkan_support(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                       VkInstance instance,
                                       VkPhysicalDevice physical_device,
                                       DrystoneSupport *support);

// Sets the features that the kernels need in a chain of structs for vkCreateDevice (`pNext` of VkDeviceCreateInfo): in
// a VkPhysicalDeviceVulkan12Features, or in a VkPhysicalDeviceVulkanMemoryModelFeatures and a
// VkPhysicalDeviceScalarBlockLayoutFeatures. An error when the chain has neither; nothing is changed then.
//
// # Safety
// As at the top of this header; every struct of the chain is as its sType says.
DrystoneResult drystone_vulkan_enable(void *chain);

// Makes the kernels of a device. Nothing is compiled yet.
//
// # Safety
// As at the top of this header; the handles are alive, belong together, and outlive what is made from them, and the
// device has the features of `drystone_vulkan_enable`.
DrystoneResult drystone_kernels_create(const DrystoneVulkanHost *host, DrystoneKernels **kernels);

// Compiles every pipeline that is not ready yet, which takes a while; another thread may do so meanwhile. Without it
// they are compiled when they are first needed.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_kernels_compile(const DrystoneKernels *kernels);

// Destroys kernels, as soon as no stepper needs them. NULL is ignored.
//
// # Safety
// As at the top of this header; nothing uses them any more.
DrystoneResult drystone_kernels_destroy(DrystoneKernels *kernels);

// Fills in the choices of a stepper when nobody says anything. Set `struct_size` before.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_stepper_defaults(DrystoneStepperDesc *desc);

// Makes a stepper of an empty world on the CPU. `desc` may be NULL.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_stepper_create_cpu(const DrystoneStepperDesc *desc, DrystoneStepper **stepper);

// Makes a stepper of an empty world that records into the host's command buffers. `desc` may be NULL. It keeps what it
// needs of the kernels: those may be destroyed before it.
//
// # Safety
// As at the top of this header; the device outlives the stepper.
DrystoneResult drystone_stepper_create_vulkan(const DrystoneKernels *kernels,
                                              const DrystoneStepperDesc *desc,
                                              DrystoneStepper **stepper);

// Destroys a stepper. NULL is ignored. On Vulkan the device is through with every frame that was recorded.
//
// # Safety
// As at the top of this header; nothing uses the stepper any more.
DrystoneResult drystone_stepper_destroy(DrystoneStepper *stepper);

// Gives the next step as many iterations as the first of a world has: for structures that were added under load.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_start_cold(DrystoneStepper *stepper);

// Gets everything ready for a step of `dt` seconds, above 0 and up to 1. Takes over what was said to the world, and
// may allocate. `completed` is the number of the last frame that the device is through with, 0 at first; the CPU
// backend ignores it. What was prepared and neither recorded nor run is undone by the next call.
//
// # Safety
// As at the top of this header; frames up to `completed` are done.
DrystoneResult drystone_prepare(DrystoneStepper *stepper, float dt, uint64_t completed);

// Runs what was prepared, on the CPU. `frame` gets the number of the frame and may be NULL; `drystone_poll` has its
// report.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_run(DrystoneStepper *stepper, uint64_t *frame);

// Tells what the oldest frame did whose report was not told yet: of frames up to `completed`, each once, in their
// order. Never waits. `DRYSTONE_RESULT_NOTHING` when there is none. `drystone_report_event` has its events,
// `drystone_report_pass` the times of its passes, until the next call.
//
// # Safety
// As at the top of this header; frames up to `completed` are done.
DrystoneResult drystone_poll(DrystoneStepper *stepper, uint64_t completed, DrystoneReport *report);

// Records what was prepared: it does not submit, wait or allocate device memory. `frame` gets the number of the frame,
// from 1 on, and may be NULL.
//
// On entry it waits for what `entry` names, the host's reads and writes of the engine's buffers. On exit what it wrote
// is visible to what `exit` names. Either may be NULL: then the host's own barriers or semaphores see to it. The
// compute pipeline, descriptor set 0 of the compute bind point and the push constants are overwritten.
//
// Where `exit` names another queue family, both buffers of `DrystonePoseView`, from byte 0 to VK_WHOLE_SIZE, are
// released to it; the host acquires them there, behind a semaphore, and releases them to its
// `DrystoneVulkanHost.queue_family` when it is done. Where `entry` names the family, they are acquired again, behind a
// semaphore; those that were never released to it, such as in the first frame and buffers that growth has made since,
// are left out. The library's halves name the stages of its own queue only: `stages` and `access` are the host's.
// Nothing is handed over to families of `DrystoneStepperDesc.shared_families`.
//
// # Safety
// As at the top of this header; `commands` is in the recording state, outside a render pass, of the host's queue
// family, which has the stages of `entry` and `exit` unless they are of another, and is submitted once, in the order
// of recording, to one queue.
DrystoneResult drystone_record(DrystoneStepper *stepper,
                               VkCommandBuffer commands,
                               const DrystoneAccess *entry,
                               const DrystoneAccess *exit,
                               uint64_t *frame);

// Tells where the poses lie. Ask again after every `drystone_prepare`: growth brings other buffers.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_poses(const DrystoneStepper *stepper, DrystonePoseView *poses);

// Event number `index`, from 0 on, of the report that `drystone_poll` told last.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_report_event(const DrystoneStepper *stepper, uint32_t index, DrystoneEvent *event);

// Pass number `index`, from 0 on, of the report that `drystone_poll` told last. There are as many as `pass_count` of
// that says: none unless `timing` was asked for.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_report_pass(const DrystoneStepper *stepper, uint32_t index, DrystonePass *pass);

// Tells the memory of part `index`, from 0 on. `count` gets the number of parts; with `memory` NULL nothing else is
// told.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_memory(DrystoneStepper *stepper, uint32_t index, DrystoneMemoryUse *memory, uint32_t *count);

// Sets a setting of the step by its name, such as "iterations"; switches take 0 or 1. The solver comes before its
// numbers.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_setting(DrystoneStepper *stepper, const char *name, double value);

// A setting of the step by its name.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_setting(const DrystoneStepper *stepper, const char *name, double *value);

// Fills in what a collider is when nobody says anything. Set `struct_size` before.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_collider_defaults(DrystoneCollider *collider);

// Fills in what a body is when nobody says anything. Set `struct_size` before.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_body_defaults(DrystoneBodyDesc *desc);

// Fills in what an axis of a joint is when nobody says anything. Set `struct_size` before.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_axis_defaults(DrystoneAxis *axis);

// Fills in what a joint is when nobody says anything. Set `struct_size` before.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_joint_defaults(DrystoneJointDesc *desc);

// Sets the acceleration of everything that falls, 3 floats.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_gravity(DrystoneStepper *stepper, const float *gravity);

// Adds a body. It is there from the start of the next step.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_add_body(DrystoneStepper *stepper, const DrystoneBodyDesc *desc, DrystoneBody *added);

// Removes a body and its joints. Its handle is stale from now on.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_remove_body(DrystoneStepper *stepper, DrystoneBody body);

// Slot of a body in the engine's buffers: its place in `DrystonePoseView`. Of 0, UINT32_MAX.
uint32_t drystone_body_slot(DrystoneBody body);

// Adds a joint.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_add_joint(DrystoneStepper *stepper, const DrystoneJointDesc *desc, DrystoneJoint *added);

// Removes a joint.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_remove_joint(DrystoneStepper *stepper, DrystoneJoint joint);

// Breaks a joint (`broken` 1), or repairs it (0).
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_joint_broken(DrystoneStepper *stepper, DrystoneJoint joint, uint32_t broken);

// Changes what a joint does to a coordinate: where it may go, what drives it, its friction.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_joint_axis(DrystoneStepper *stepper, DrystoneJoint joint, const DrystoneAxis *does);

// Sets a body's velocities, 3 floats each. Static bodies ignore it.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_velocity(DrystoneStepper *stepper,
                                     DrystoneBody body,
                                     const float *linear,
                                     const float *angular);

// Puts a body somewhere: 3 floats, and 4 of the rotation. It keeps its velocity.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_pose(DrystoneStepper *stepper,
                                 DrystoneBody body,
                                 const float *position,
                                 const float *turned);

// Moves a kinematic body: it is there at the end of the next step, and pushes what is in its way.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_target(DrystoneStepper *stepper,
                                   DrystoneBody body,
                                   const float *position,
                                   const float *turned);

// Changes a body's velocities by an impulse at its centre of mass and an angular one, 3 floats each.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_apply_impulse(DrystoneStepper *stepper,
                                      DrystoneBody body,
                                      const float *linear,
                                      const float *angular);

// Lets a force at the centre of mass and a torque act on a body during the next step, 3 floats each.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_apply_force(DrystoneStepper *stepper,
                                    DrystoneBody body,
                                    const float *force,
                                    const float *torque);

// Sets the force at a body's centre of mass and the torque that act on it until they are set again, 3 floats each.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_force(DrystoneStepper *stepper, DrystoneBody body, const float *force, const float *torque);

// Fills in a description with what everything is when nobody says anything. `desc` has its `struct_size`.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_soft_defaults(DrystoneSoftDesc *desc);

// The same for an attachment.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_attachment_defaults(DrystoneAttachmentDesc *desc);

// Adds a soft body. It is there from the start of the next step.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_add_soft(DrystoneStepper *stepper, const DrystoneSoftDesc *desc, DrystoneSoft *added);

// Removes a soft body and its attachments. Its handle is stale from now on.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_remove_soft(DrystoneStepper *stepper, DrystoneSoft soft);

// Holds a particle to a body or to the world, from the next step on.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_attach(DrystoneStepper *stepper, const DrystoneAttachmentDesc *desc, DrystoneAttachment *added);

// Lets a particle go. The handle is stale from now on.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_detach(DrystoneStepper *stepper, DrystoneAttachment attachment);

// Sets the force on a particle, 3 floats, newtons; it acts until it is changed.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_set_particle_force(DrystoneStepper *stepper,
                                           DrystoneSoft soft,
                                           uint32_t particle,
                                           const float *force);

// Tells the slot of a soft body (`owner` of its vertices), and its first vertex. They never change. Either may be NULL.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_soft_slot(DrystoneStepper *stepper, DrystoneSoft soft, uint32_t *slot, uint32_t *first_vertex);

// Reads the triangles of a soft body's surface, 3 particles each, counted from its first vertex: an index buffer. They
// never change. `count` gets the number of triangles; when there is not room for as many, `capacity`, nothing is
// written and the call fails, unless `corners` is NULL.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_soft_triangles(DrystoneStepper *stepper,
                                       DrystoneSoft soft,
                                       uint32_t *corners,
                                       uint32_t capacity,
                                       uint32_t *count);

// Reads positions and velocities of a soft body's particles after the last step, 3 floats each, on the CPU. Either list
// may be NULL; each that is not has room for `capacity` particles, at least as many as there are.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_soft_state(DrystoneStepper *stepper,
                                   DrystoneSoft soft,
                                   float *positions,
                                   float *velocities,
                                   uint32_t capacity);

// Tells where the vertices of all soft bodies lie; `DRYSTONE_RESULT_NOTHING` when there are no soft bodies yet. Ask
// again after every `drystone_prepare`: growth brings other buffers.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_soft_vertices(const DrystoneStepper *stepper, DrystoneSoftVertexView *vertices);

// Reads the state of a body after the last step, on the CPU.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_body_state(DrystoneStepper *stepper, DrystoneBody body, DrystoneBodyState *state);

// Reads the poses of all body slots after the last step, on the CPU. `count` gets the number of slots; when there is
// not room for as many, `capacity`, nothing is written and the call fails, unless `poses` is NULL.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_read_poses(DrystoneStepper *stepper,
                                   DrystoneBodyPose *poses,
                                   uint32_t capacity,
                                   uint32_t *count);

// A hash of the poses that are present, with their slots: the same poses have the same, to the bit.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_pose_hash(const DrystoneBodyPose *poses, uint32_t count, uint64_t *hash);

// Takes a snapshot of the world as it is now, on the CPU: `drystone_snapshot_bytes` has it.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_take_snapshot(DrystoneStepper *stepper);

// Makes room for a snapshot in the host's frames. Call it between `drystone_prepare` and `drystone_record`; it
// allocates.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_reserve_snapshot(DrystoneStepper *stepper);

// Records copies of what the frame that was recorded last leaves behind. `drystone_poll_snapshot` has the snapshot
// when that frame is done. `frame` gets its number and may be NULL.
//
// # Safety
// As for `drystone_record`; the commands come behind those of the frame, which is not done before they are.
DrystoneResult drystone_record_snapshot(DrystoneStepper *stepper, VkCommandBuffer commands, uint64_t *frame);

// Takes the snapshot that was recorded last with frames up to `completed`: `drystone_snapshot_bytes` has it then.
// Earlier ones are dropped. `DRYSTONE_RESULT_NOTHING` when there is none. `frame` gets its frame and may be NULL.
//
// # Safety
// As at the top of this header; frames up to `completed` are done.
DrystoneResult drystone_poll_snapshot(DrystoneStepper *stepper, uint64_t completed, uint64_t *frame);

// The snapshot that was taken last. The bytes stay valid until the next one is taken, or the stepper is destroyed.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_snapshot_bytes(const DrystoneStepper *stepper, const uint8_t **bytes, size_t *size);

// The world becomes that of a snapshot, whatever it was before; handles are those of the snapshot, too. In the host's
// frames with the next frame that is recorded. On failure the world stays what it was.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_restore(DrystoneStepper *stepper, const uint8_t *bytes, size_t size);

// Keeps the state behind every frame from the next one on, so that `drystone_roll_back` can go back by up to so many.
// 0, the default, keeps nothing.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_keep_frames(DrystoneStepper *stepper, uint32_t frames);

// Goes back to the state behind a frame that is kept. Everything that was said to the world since that frame was
// prepared is undone; handles given out since are void.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_roll_back(DrystoneStepper *stepper, uint64_t frame);

// Fills in what a query is when nobody says anything. Set `struct_size` before.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_query_defaults(DrystoneQuery *query);

// Answers queries about the world as the last step left it, on the CPU: `drystone_query_hit` has the answers until the
// next call.
//
// # Safety
// As at the top of this header; there are `count` queries.
DrystoneResult drystone_query(DrystoneStepper *stepper, const DrystoneQuery *queries, uint32_t count);

// Makes room for lists of queries of this size in the host's frames, for as many that are pending as frames may be.
// It does nothing if there is that much room; otherwise it allocates, and queries that are pending are forgotten.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_reserve_queries(DrystoneStepper *stepper, const DrystoneQueryRoom *room);

// Records the answers to queries behind the frame that was recorded last, about the state that it leaves behind: it
// does not submit, wait or allocate device memory. `frame` gets the number of that frame and may be NULL. What they
// wrote is visible to what `exit` names, which may be NULL.
//
// # Safety
// As for `drystone_record`; there are `count` queries. The commands come behind those of the last recorded frame, and
// that frame does not count as completed before they are done.
DrystoneResult drystone_record_queries(DrystoneStepper *stepper,
                                       VkCommandBuffer commands,
                                       const DrystoneQuery *queries,
                                       uint32_t count,
                                       const DrystoneAccess *exit,
                                       uint64_t *frame);

// Takes the answers to the oldest queries that were recorded behind frames up to `completed` and were not taken yet;
// `drystone_query_hit` has them until the next call. `frame` gets the number of their frame. Never waits.
// `DRYSTONE_RESULT_NOTHING` when there are none.
//
// # Safety
// As at the top of this header; frames up to `completed` are done.
DrystoneResult drystone_poll_queries(DrystoneStepper *stepper, uint64_t completed, uint64_t *frame);

// What query number `query` of the last answers met, and of overlaps number `item`, from 0 on; else `item` is 0.
// `DRYSTONE_RESULT_NOTHING` when there is none. `count` gets how many there are, of overlaps also those that are not
// listed, and may be NULL.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_query_hit(const DrystoneStepper *stepper,
                                  uint32_t query,
                                  uint32_t item,
                                  DrystoneHit *hit,
                                  uint32_t *count);

// Reads force and error of a joint after the last step, on the CPU.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_joint_state(DrystoneStepper *stepper, DrystoneJoint joint, DrystoneJointState *state);

// Slot of a joint in the engine's buffers: its place in `drystone_joint_forces`. Of 0, UINT32_MAX.
uint32_t drystone_joint_slot(DrystoneJoint joint);

// Tells where the forces of all joints lie, `DrystoneJointForce` by slot, as each step leaves them, for the host's own
// shaders or copies: nothing waits. Ask again after every `drystone_prepare`: growth brings other buffers.
// `DRYSTONE_RESULT_NOTHING` when there is no joint.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_joint_forces(DrystoneStepper *stepper, DrystoneBufferView *view);

// Tells where a buffer of the host's own lies. Ask again after every `drystone_prepare`: growth brings other buffers.
// Between `drystone_record` of one frame and the next it is the host's to read and write: `entry` and `exit` of frames
// name what it does.
//
// # Safety
// As at the top of this header; `name` is NULL or ends with a 0.
DrystoneResult drystone_user_buffer(DrystoneStepper *stepper, const char *name, DrystoneBufferView *view);

// Reads `size` bytes of a buffer of the host's own from byte `first` on, on the CPU.
//
// # Safety
// As at the top of this header; `name` is NULL or ends with a 0, `bytes` has room for `size`.
DrystoneResult drystone_read_user_buffer(DrystoneStepper *stepper,
                                         const char *name,
                                         uint64_t first,
                                         uint8_t *bytes,
                                         size_t size);

// Writes `size` bytes of a buffer of the host's own from byte `first` on, on the CPU. Both are multiples of 4.
//
// # Safety
// As at the top of this header; `name` is NULL or ends with a 0.
DrystoneResult drystone_write_user_buffer(DrystoneStepper *stepper,
                                          const char *name,
                                          uint64_t first,
                                          const uint8_t *bytes,
                                          size_t size);

// Lends a buffer for `drystone_record_poses`: for hosts that draw more or fewer frames than the physics makes. Any
// number may be lent, for example one for each frame in flight.
//
// # Safety
// As at the top of this header; the buffer is of the stepper's device, as large as `target` says, and alive until it is
// given back or the stepper destroyed, and the device is done.
DrystoneResult drystone_lend_pose_buffer(DrystoneStepper *stepper,
                                         const DrystonePoseTarget *target,
                                         DrystoneLentPoses *lent);

// Takes a lent buffer back. The next recorded frame may still use it; frames behind that do not.
//
// # Safety
// As at the top of this header.
DrystoneResult drystone_return_pose_buffer(DrystoneStepper *stepper, DrystoneLentPoses lent);

// Records writing poses into a lent buffer: those at `part`, 0 to 1, of the way from the frame before the last recorded
// one to the last. `commands` may be any behind those of that frame, with a step in them or without. It does not
// submit, wait or allocate.
//
// On entry it waits for what `entry` names, such as a vertex shader's reads of the buffer; on exit the poses are
// visible to what `exit` names. Either may be NULL. Where they name another queue family, the bytes from the first
// pose to the last are acquired and released as those of `drystone_record` are.
//
// # Safety
// As for `drystone_record`; the poses of `DrystonePoseView` are not with another queue family.
DrystoneResult drystone_record_poses(DrystoneStepper *stepper,
                                     VkCommandBuffer commands,
                                     DrystoneLentPoses lent,
                                     float part,
                                     const DrystoneAccess *entry,
                                     const DrystoneAccess *exit);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DRYSTONE_H */
