/* What the top of drystone.h promises, tried from C: wrong pointers, sizes, values and handles are errors with words, and change
 * nothing. Prints how many calls were refused as they should be; the first that was not ends it. */
#include "drystone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refused;

/* `call` gives `expected`, and if that is an error, its words have `words` in them. */
static void gives(int line, const char *call, DrystoneResult found, DrystoneResult expected, const char *words) {
    if (found != expected || (expected < 0 && !strstr(drystone_last_error(), words))) {
        fprintf(stderr, "contract.c:%d: %s\n  gave %d (%s), not %d (... %s ...)\n", line, call, (int)found,
                drystone_last_error(), (int)expected, words);
        exit(1);
    }
    refused += expected < 0;
}
#define GIVES(call, expected, words) gives(__LINE__, #call, call, DRYSTONE_RESULT_##expected, words)
#define DONE(call) GIVES(call, OK, "")

static void check(int line, int true_thing, const char *what) {
    if (!true_thing) {
        fprintf(stderr, "contract.c:%d: %s\n", line, what);
        exit(1);
    }
}
#define CHECK(condition) check(__LINE__, condition, #condition)

static DrystoneStepper *stepper;

static DrystoneCollider ball(void) {
    DrystoneCollider collider = {.struct_size = sizeof collider};
    DONE(drystone_collider_defaults(&collider));
    collider.radius = 0.5f;
    return collider;
}

static DrystoneBodyDesc body_of(const DrystoneCollider *collider) {
    DrystoneBodyDesc desc = {.struct_size = sizeof desc};
    DONE(drystone_body_defaults(&desc));
    desc.colliders = collider, desc.collider_count = 1;
    return desc;
}

static void pointers(void) {
    const float zero[4] = {0, 0, 0, 1};
    DrystoneBody body;
    DrystoneBodyState state = {.struct_size = sizeof state};
    double value;
    uint64_t hash;
    uint32_t count;
    size_t size;
    GIVES(drystone_stepper_create_cpu(NULL, NULL), ERROR_POINTER, "`stepper` is NULL");
    GIVES(drystone_stepper_create_vulkan(NULL, NULL, &(DrystoneStepper *){NULL}), ERROR_POINTER, "`kernels` is NULL");
    GIVES(drystone_kernels_create(NULL, &(DrystoneKernels *){NULL}), ERROR_POINTER, "`host` is NULL");
    GIVES(drystone_kernels_compile(NULL), ERROR_POINTER, "`kernels` is NULL");
    GIVES(drystone_vulkan_support(NULL, NULL, NULL, NULL), ERROR_POINTER, "get_instance_proc_addr");
    GIVES(drystone_vulkan_enable(NULL), ERROR_VALUE, "VkPhysicalDeviceVulkan12Features");
    DONE(drystone_stepper_destroy(NULL));
    DONE(drystone_kernels_destroy(NULL));
    GIVES(drystone_collider_defaults(NULL), ERROR_POINTER, "`collider`");
    GIVES(drystone_add_body(NULL, NULL, &body), ERROR_POINTER, "`desc`");
    GIVES(drystone_add_body(stepper, NULL, &body), ERROR_POINTER, "`desc`");
    GIVES(drystone_add_body(stepper, NULL, NULL), ERROR_POINTER, "`added`");
    GIVES(drystone_remove_body(NULL, 1), ERROR_POINTER, "`stepper`");
    GIVES(drystone_set_gravity(stepper, NULL), ERROR_POINTER, "`gravity`");
    GIVES(drystone_set_velocity(stepper, 1, zero, NULL), ERROR_POINTER, "`angular`");
    GIVES(drystone_set_setting(stepper, NULL, 1), ERROR_POINTER, "`name`");
    GIVES(drystone_setting(NULL, "iterations", &value), ERROR_POINTER, "`stepper`");
    GIVES(drystone_setting(stepper, "iterations", NULL), ERROR_POINTER, "`value`");
    GIVES(drystone_prepare(NULL, 0.1f, 0), ERROR_POINTER, "`stepper`");
    GIVES(drystone_run(NULL, NULL), ERROR_POINTER, "`stepper`");
    GIVES(drystone_body_state(NULL, 1, &state), ERROR_POINTER, "`stepper`");
    GIVES(drystone_pose_hash(NULL, 1, &hash), ERROR_POINTER, "`poses`");
    GIVES(drystone_read_poses(stepper, NULL, 0, NULL), ERROR_POINTER, "`count`");
    DONE(drystone_read_poses(stepper, NULL, 0, &count));
    GIVES(drystone_restore(stepper, NULL, 7), ERROR_POINTER, "`bytes`");
    GIVES(drystone_snapshot_bytes(stepper, NULL, &size), ERROR_POINTER, "`bytes`");
    /* An address that no such struct can have. */
    char bytes[sizeof(DrystoneBodyState) + 8] = {0};
    GIVES(drystone_body_defaults((DrystoneBodyDesc *)(void *)(bytes + ((size_t)bytes % 2 ? 2 : 1))), ERROR_POINTER,
          "not aligned");
    CHECK(body == 0);
}

static void sizes(void) {
    const DrystoneCollider collider = ball();
    DrystoneBodyDesc desc = body_of(&collider);
    DrystoneBody body;
    /* Never set, absurd, or of no struct. */
    for (uint32_t size = 0; size < 8; size++) {
        desc.struct_size = size;
        GIVES(drystone_add_body(stepper, &desc, &body), ERROR_STRUCT_SIZE, "DrystoneBodyDesc.struct_size");
    }
    desc.struct_size = 0xcccccccc;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_STRUCT_SIZE, "sizeof(DrystoneBodyDesc)");
    desc.struct_size = sizeof desc - 4;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_STRUCT_SIZE, "128 bytes");

    /* From an older header, without the fields behind the position: they have their defaults, whatever lies there. */
    desc = body_of(&collider);
    desc.struct_size = offsetof(DrystoneBodyDesc, rotation);
    while (desc.struct_size % sizeof(void *)) desc.struct_size -= 4;
    memset((char *)&desc + desc.struct_size, 0xff, sizeof desc - desc.struct_size);
    DONE(drystone_add_body(stepper, &desc, &body));
    DrystoneBodyState state = {.struct_size = sizeof state};
    DONE(drystone_body_state(stepper, body, &state));
    CHECK(state.rotation[3] == 1.0f && state.linear_velocity[0] == 0.0f && state.enabled == 1);
    DONE(drystone_remove_body(stepper, body));

    /* From a newer one, with a field that is 0, and then is not. */
    struct {
        DrystoneBodyDesc known;
        uint64_t unknown;
    } newer = {.known = body_of(&collider)};
    newer.known.struct_size = sizeof newer;
    DONE(drystone_add_body(stepper, &newer.known, &body));
    DONE(drystone_remove_body(stepper, body));
    newer.unknown = 1;
    GIVES(drystone_add_body(stepper, &newer.known, &body), ERROR_STRUCT_SIZE, "something at byte 128");

    /* Filled in: neither more than there is room for, nor anything left as it was. */
    struct {
        DrystoneBodyState known;
        uint32_t unknown[2];
    } told;
    memset(&told, 0xff, sizeof told);
    told.known.struct_size = sizeof told;
    desc = body_of(&collider);
    DONE(drystone_add_body(stepper, &desc, &body));
    DONE(drystone_body_state(stepper, body, &told.known));
    CHECK(told.known.struct_size == sizeof told && told.known.enabled == 1 && !told.unknown[0] && !told.unknown[1]);
    memset(&state, 0xff, sizeof state);
    state.struct_size = offsetof(DrystoneBodyState, rotation);
    const uint32_t untouched = 0xffffffff;
    DONE(drystone_body_state(stepper, body, &state));
    CHECK(state.position[0] == 0.0f && memcmp(&state.rotation[0], &untouched, 4) == 0);
    DONE(drystone_remove_body(stepper, body));

    /* In a list all have the size of the first. */
    DrystoneCollider two[2] = {collider, collider};
    two[1].struct_size -= 8;
    desc.colliders = two, desc.collider_count = 2;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_STRUCT_SIZE, "colliders[1].struct_size");
}

static void values(void) {
    DrystoneCollider collider = ball();
    DrystoneBodyDesc desc = body_of(&collider);
    DrystoneBody body;
    collider.shape = 7;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "DrystoneCollider.shape is 7");
    collider = ball();
    collider.radius = -1.0f;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "sphere radius");
    collider = ball();
    collider.friction_combine = 0xffffffff;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "friction_combine");
    collider = ball();
    collider.sensor = 2;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "sensor");
    collider = ball();
    collider.shape = DRYSTONE_SHAPE_HULL, collider.point_count = 5;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_POINTER, "points");
    collider.point_count = 0;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "at least 4 points");
    collider = ball();
    desc.kind = 3;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "DrystoneBodyDesc.kind");
    desc = body_of(&collider);
    desc.position[1] = NAN;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "position");
    desc = body_of(NULL);
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_POINTER, "colliders");
    GIVES(drystone_set_setting(stepper, "iterations", 0.5), ERROR_VALUE, "iterations");
    GIVES(drystone_set_setting(stepper, "no such thing", 1), ERROR_VALUE, "no setting `no such thing`");
    GIVES(drystone_set_setting(stepper, "\xff", 1), ERROR_VALUE, "UTF-8");
    double value = 0.0;
    GIVES(drystone_setting(stepper, "no such thing", &value), ERROR_VALUE, "iterations");
    DONE(drystone_set_setting(stepper, "iterations", 7));
    DONE(drystone_setting(stepper, "iterations", &value));
    CHECK(value == 7.0);
    GIVES(drystone_prepare(stepper, 0.0f, 0), ERROR_VALUE, "time step");
    GIVES(drystone_prepare(stepper, NAN, 0), ERROR_VALUE, "time step");
    DrystoneStepperDesc choices = {.struct_size = sizeof choices};
    DrystoneStepper *none;
    DONE(drystone_stepper_defaults(&choices));
    choices.frames_in_flight = 0;
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_VALUE, "frames_in_flight");
    DONE(drystone_stepper_defaults(&choices));
    choices.gravity[1] = INFINITY;
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_VALUE, "gravity");
    CHECK(!none);
}

static void joints(void) {
    const DrystoneCollider collider = ball();
    const DrystoneBodyDesc desc = body_of(&collider);
    DrystoneBody a;
    DrystoneJoint joint;
    DONE(drystone_add_body(stepper, &desc, &a));
    DrystoneJointDesc hinge = {.struct_size = sizeof hinge};
    DONE(drystone_joint_defaults(&hinge));
    hinge.kind = DRYSTONE_JOINT_KIND_HINGE;
    GIVES(drystone_add_joint(stepper, &hinge, &joint), ERROR_STALE, "names none");
    hinge.body_a = hinge.body_b = a;
    GIVES(drystone_add_joint(stepper, &hinge, &joint), ERROR_VALUE, "two bodies");
    hinge.body_b = 0, hinge.kind = 8;
    GIVES(drystone_add_joint(stepper, &hinge, &joint), ERROR_VALUE, "DrystoneJointDesc.kind");
    hinge.kind = DRYSTONE_JOINT_KIND_HINGE;
    DrystoneAxis axis = {.struct_size = sizeof axis};
    DONE(drystone_axis_defaults(&axis));
    axis.axis = 7;
    hinge.axes = &axis, hinge.axis_count = 1;
    GIVES(drystone_add_joint(stepper, &hinge, &joint), ERROR_VALUE, "DrystoneAxis.axis");
    axis.axis = DRYSTONE_JOINT_AXIS_TWIST, axis.hold = DRYSTONE_HOLD_BETWEEN, axis.low = 1, axis.high = -1;
    GIVES(drystone_add_joint(stepper, &hinge, &joint), ERROR_VALUE, "limits");
    axis.low = -1, axis.high = 1;
    DONE(drystone_add_joint(stepper, &hinge, &joint));
    axis.drive = DRYSTONE_DRIVE_SPRING;
    GIVES(drystone_set_joint_axis(stepper, joint, &axis), ERROR_VALUE, "stiffness");
    axis.stiffness = 10;
    DONE(drystone_set_joint_axis(stepper, joint, &axis));
    DONE(drystone_set_joint_broken(stepper, joint, 1));
    DONE(drystone_set_joint_broken(stepper, joint, 0));
    DONE(drystone_remove_joint(stepper, joint));
    GIVES(drystone_remove_joint(stepper, joint), ERROR_STALE, "no longer there");
    GIVES(drystone_set_joint_axis(stepper, joint, &axis), ERROR_STALE, "no longer there");
    DONE(drystone_remove_body(stepper, a));
}

static void handles(void) {
    const DrystoneCollider collider = ball();
    const DrystoneBodyDesc desc = body_of(&collider);
    DrystoneBody first, second;
    DrystoneBodyState state = {.struct_size = sizeof state};
    DONE(drystone_add_body(stepper, &desc, &first));
    DONE(drystone_remove_body(stepper, first));
    DONE(drystone_add_body(stepper, &desc, &second));
    CHECK(first != second && first && second && drystone_body_slot(first) == drystone_body_slot(second));
    CHECK(drystone_body_slot(0) == UINT32_MAX);
    GIVES(drystone_remove_body(stepper, first), ERROR_STALE, "no longer there");
    GIVES(drystone_body_state(stepper, first, &state), ERROR_STALE, "no longer there");
    GIVES(drystone_body_state(stepper, 0, &state), ERROR_STALE, "names none");
    GIVES(drystone_body_state(stepper, UINT64_MAX, &state), ERROR_STALE, "of another world");
    DONE(drystone_remove_body(stepper, second));
}

static void steps(void) {
    DrystoneReport report = {.struct_size = sizeof report};
    DrystoneEvent event = {.struct_size = sizeof event};
    uint64_t frame = 0;
    GIVES(drystone_run(stepper, &frame), ERROR_NOT_PREPARED, "drystone_prepare");
    GIVES(drystone_poll(stepper, 0, &report), NOTHING, "");
    DONE(drystone_prepare(stepper, 0.01f, 0));
    DONE(drystone_prepare(stepper, 0.01f, 0));
    DONE(drystone_run(stepper, &frame));
    CHECK(frame == 1);
    GIVES(drystone_run(stepper, &frame), ERROR_NOT_PREPARED, "drystone_prepare");
    GIVES(drystone_poll(stepper, 0, NULL), ERROR_POINTER, "`report`");
    DONE(drystone_poll(stepper, 0, &report));
    CHECK(report.frame == 1 && report.struct_size == sizeof report);
    GIVES(drystone_report_event(stepper, report.event_count, &event), ERROR_VALUE, "no event");
    GIVES(drystone_poll(stepper, 0, &report), NOTHING, "");
    DONE(drystone_prepare(stepper, 0.01f, 0));
    GIVES(drystone_record(stepper, NULL, NULL, NULL, NULL), ERROR_POINTER, "`commands`");
    GIVES(drystone_record(stepper, (VkCommandBuffer)(void *)&report, NULL, NULL, NULL), ERROR_BACKEND, "drystone_record");
    DONE(drystone_run(stepper, NULL));
    GIVES(drystone_poses(stepper, &(DrystonePoseView){.struct_size = sizeof(DrystonePoseView)}), ERROR_BACKEND,
          "drystone_poses");
    DrystoneLentPoses lent = 1;
    const DrystonePoseTarget target = {.struct_size = sizeof target, .stride = 32, .count = 1, .buffer = (VkBuffer)(void *)&report};
    GIVES(drystone_lend_pose_buffer(stepper, NULL, &lent), ERROR_POINTER, "`target`");
    GIVES(drystone_lend_pose_buffer(stepper, &target, &lent), ERROR_BACKEND, "drystone_lend_pose_buffer");
    CHECK(lent == 0);
    GIVES(drystone_record_poses(stepper, NULL, 1, 0.5f, NULL, NULL), ERROR_POINTER, "`commands`");
    GIVES(drystone_return_pose_buffer(stepper, 1), ERROR_BACKEND, "drystone_return_pose_buffer");
    GIVES(drystone_reserve_snapshot(stepper), ERROR_BACKEND, "drystone_reserve_snapshot");
}

static uint64_t hash_of_all(void) {
    DrystoneBodyPose poses[16];
    uint32_t count;
    uint64_t hash;
    DONE(drystone_read_poses(stepper, poses, 16, &count));
    DONE(drystone_pose_hash(poses, count, &hash));
    return hash;
}

static void step(int times) {
    for (int i = 0; i < times; i++) {
        DONE(drystone_prepare(stepper, 0.01f, 0));
        DONE(drystone_run(stepper, NULL));
    }
}

/* A ball falls; its past can be had again, from bytes and from what is kept. */
static void past(void) {
    const DrystoneCollider collider = ball();
    const DrystoneBodyDesc desc = body_of(&collider);
    DrystoneBody body;
    const uint8_t *bytes;
    size_t size;
    uint32_t count;
    DrystoneBodyPose pose;
    GIVES(drystone_snapshot_bytes(stepper, &bytes, &size), NOTHING, "");
    for (int i = 0; i < 3; i++) DONE(drystone_add_body(stepper, &desc, &body));
    GIVES(drystone_read_poses(stepper, &pose, 1, &count), ERROR_VALUE, "room for 1");
    CHECK(count == 3);
    step(10);
    const uint64_t before = hash_of_all();
    DONE(drystone_take_snapshot(stepper));
    DONE(drystone_snapshot_bytes(stepper, &bytes, &size));
    uint8_t *copy = malloc(size);
    CHECK(copy && size > 100);
    memcpy(copy, bytes, size);
    step(10);
    const uint64_t after = hash_of_all();
    CHECK(after != before);
    copy[size / 2] ^= 1;
    GIVES(drystone_restore(stepper, copy, size), ERROR_SNAPSHOT, "");
    GIVES(drystone_restore(stepper, copy, 3), ERROR_SNAPSHOT, "");
    CHECK(hash_of_all() == after);
    copy[size / 2] ^= 1;
    DONE(drystone_restore(stepper, copy, size));
    CHECK(hash_of_all() == before);
    DONE(drystone_keep_frames(stepper, 10));
    step(1);
    uint64_t frame;
    DONE(drystone_prepare(stepper, 0.01f, 0));
    DONE(drystone_run(stepper, &frame));
    step(8);
    CHECK(hash_of_all() == after);
    GIVES(drystone_roll_back(stepper, 1), ERROR_SNAPSHOT, "kept");
    DONE(drystone_roll_back(stepper, frame));
    CHECK(hash_of_all() != after);
    step(8);
    CHECK(hash_of_all() == after);
    free(copy);
}

/* Forces of joints, and buffers of the host's own, which go along when lists grow, into snapshots and back. */
static void own_buffers(void) {
    DrystoneUserBuffer buffers[2] = {
        {.struct_size = sizeof buffers[0], .each = DRYSTONE_LIST_BODIES, .name = "marks", .stride = 8},
        {.struct_size = sizeof buffers[0], .each = DRYSTONE_LIST_JOINTS, .name = "pulls", .stride = 4},
    };
    DrystoneStepperDesc choices = {.struct_size = sizeof choices};
    DrystoneStepper *own = NULL, *none;
    DONE(drystone_stepper_defaults(&choices));
    choices.threads = 1, choices.user_buffer_count = 2;
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_POINTER, "user_buffers");
    choices.user_buffers = buffers;
    buffers[1].each = 3;
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_VALUE, "user_buffers[1].each is 3");
    buffers[1].each = DRYSTONE_LIST_JOINTS, buffers[1].name = NULL;
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_POINTER, "`name`");
    buffers[1].name = "marks";
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_VALUE, "already has a buffer named `marks`");
    buffers[1].name = "poses";
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_VALUE, "already has a buffer named `poses`");
    buffers[1].name = "pulls", buffers[1].stride = 6;
    GIVES(drystone_stepper_create_cpu(&choices, &none), ERROR_VALUE, "`pulls` has 6 bytes an element");
    buffers[1].stride = 4;
    DONE(drystone_stepper_create_cpu(&choices, &own));

    /* A ball of 523.6 kg hangs on the world. */
    const DrystoneCollider collider = ball();
    const DrystoneBodyDesc desc = body_of(&collider);
    DrystoneBody body, more;
    DrystoneJoint joint;
    DONE(drystone_add_body(own, &desc, &body));
    DrystoneJointDesc hook = {.struct_size = sizeof hook};
    DONE(drystone_joint_defaults(&hook));
    hook.kind = DRYSTONE_JOINT_KIND_BALL, hook.body_a = body;
    hook.anchor_a[1] = hook.anchor_b[1] = 1;
    DONE(drystone_add_joint(own, &hook, &joint));
    for (int i = 0; i < 100; i++) {
        DONE(drystone_prepare(own, 0.01f, 0));
        DONE(drystone_run(own, NULL));
    }
    DrystoneJointState state = {.struct_size = sizeof state};
    DONE(drystone_joint_state(own, joint, &state));
    const float weight = 523.599f * 9.81f;
    CHECK(!state.broken && fabsf(state.force[1] - weight) < 0.01f * weight && fabsf(state.force[0]) < 0.01f * weight);
    CHECK(state.linear_error < 1e-3 && fabsf(state.torque[1]) < 0.01f * weight);
    GIVES(drystone_joint_state(own, 0, &state), ERROR_STALE, "names none");
    GIVES(drystone_joint_state(own, joint, NULL), ERROR_POINTER, "`state`");
    CHECK(drystone_joint_slot(0) == UINT32_MAX && drystone_joint_slot(joint) == 0);
    DrystoneBufferView view = {.struct_size = sizeof view};
    GIVES(drystone_joint_forces(own, &view), ERROR_BACKEND, "drystone_joint_forces");
    GIVES(drystone_user_buffer(own, "marks", &view), ERROR_BACKEND, "drystone_user_buffer");

    /* Zeros at first. What is written stays when lists grow, and comes back with a snapshot. */
    uint32_t mark[2] = {1, 1}, pull = 1;
    const uint32_t said[2] = {0x01020304, 77};
    uint8_t *const at = (uint8_t *)mark;
    const uint64_t slot = 8 * (uint64_t)drystone_body_slot(body);
    DONE(drystone_read_user_buffer(own, "marks", slot, at, 8));
    DONE(drystone_read_user_buffer(own, "pulls", 0, (uint8_t *)&pull, 4));
    CHECK(!mark[0] && !mark[1] && !pull);
    DONE(drystone_write_user_buffer(own, "marks", slot, (const uint8_t *)said, 8));
    for (int i = 0; i < 300; i++) DONE(drystone_add_body(own, &desc, &more));
    DONE(drystone_prepare(own, 0.01f, 0));
    DONE(drystone_run(own, NULL));
    DONE(drystone_read_user_buffer(own, "marks", slot, at, 8));
    CHECK(!memcmp(mark, said, 8));
    DONE(drystone_read_user_buffer(own, "marks", 8 * (uint64_t)drystone_body_slot(more), at, 8));
    CHECK(!mark[0] && !mark[1]);
    const uint8_t *bytes;
    size_t size;
    DONE(drystone_take_snapshot(own));
    DONE(drystone_snapshot_bytes(own, &bytes, &size));
    uint8_t *copy = malloc(size);
    CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    DONE(drystone_write_user_buffer(own, "marks", slot, (const uint8_t *)(uint32_t[2]){5, 6}, 8));
    DONE(drystone_restore(own, copy, size));
    DONE(drystone_read_user_buffer(own, "marks", slot, at, 8));
    CHECK(!memcmp(mark, said, 8));
    free(copy);
    GIVES(drystone_read_user_buffer(own, "poses", 0, at, 8), ERROR_VALUE, "`poses` is no buffer");
    GIVES(drystone_read_user_buffer(own, "marks", 1 << 20, at, 8), ERROR_VALUE, "8 bytes from byte 1048576 on of `marks`");
    GIVES(drystone_read_user_buffer(own, "marks", UINT64_MAX, at, 8), ERROR_VALUE, "of `marks`");
    GIVES(drystone_read_user_buffer(own, "marks", 0, NULL, 8), ERROR_POINTER, "`bytes`");
    GIVES(drystone_write_user_buffer(own, "marks", 0, NULL, 8), ERROR_POINTER, "`bytes`");
    GIVES(drystone_write_user_buffer(own, NULL, 0, at, 8), ERROR_POINTER, "`name`");
    GIVES(drystone_write_user_buffer(NULL, "marks", 0, at, 8), ERROR_POINTER, "`stepper`");
    DONE(drystone_stepper_destroy(own));
}

/* Rays and shapes: what they meet, and what makes no sense. */
static void asked(void) {
    DrystoneCollider shape = ball();
    DrystoneQuery query = {.struct_size = sizeof query};
    DrystoneHit hit = {.struct_size = sizeof hit};
    uint64_t frame;
    uint32_t count;
    DONE(drystone_query_defaults(&query));
    GIVES(drystone_query_hit(stepper, 0, 0, &hit, &count), ERROR_VALUE, "there is no query 0");
    GIVES(drystone_query(stepper, NULL, 1), ERROR_POINTER, "`queries` is NULL");
    GIVES(drystone_query(stepper, &query, 1), ERROR_VALUE, "direction has no length");
    query.kind = 4;
    GIVES(drystone_query(stepper, &query, 1), ERROR_VALUE, "DrystoneQuery.kind is 4");
    query.kind = DRYSTONE_QUERY_KIND_CAST;
    GIVES(drystone_query(stepper, &query, 1), ERROR_POINTER, "queries[0].shape");
    query.shape = &shape, query.exclude = (DrystoneBody)77 << 32 | 5;
    GIVES(drystone_query(stepper, &query, 1), ERROR_STALE, "");
    query.exclude = 0, query.struct_size = 6;
    GIVES(drystone_query(stepper, &query, 1), ERROR_STRUCT_SIZE, "DrystoneQuery");
    query.struct_size = sizeof query;
    GIVES(drystone_reserve_queries(stepper, &(DrystoneQueryRoom){.struct_size = sizeof(DrystoneQueryRoom)}), ERROR_BACKEND,
          "drystone_reserve_queries");
    GIVES(drystone_poll_queries(stepper, 0, &frame), ERROR_BACKEND, "drystone_poll_queries");
    GIVES(drystone_record_queries(stepper, NULL, &query, 1, NULL, NULL), ERROR_POINTER, "`commands`");

    /* Something that stays where it is: seen from above, and not seen by who is told not to see it. */
    const float away[3] = {50, 0, 50};
    DrystoneBodyDesc desc = body_of(&shape);
    DrystoneBody body;
    memcpy(desc.position, away, sizeof away);
    desc.kind = DRYSTONE_BODY_KIND_STATIC;
    DONE(drystone_add_body(stepper, &desc, &body));
    step(1);
    DrystoneQuery rays[3];
    for (int i = 0; i < 3; i++) {
        rays[i] = query, rays[i].kind = DRYSTONE_QUERY_KIND_RAY, rays[i].shape = NULL;
        rays[i].position[0] = 50, rays[i].position[1] = 10, rays[i].position[2] = 50, rays[i].direction[1] = -2;
    }
    rays[1].exclude = body;
    rays[2].kind = DRYSTONE_QUERY_KIND_OVERLAP, rays[2].shape = &shape, rays[2].position[1] = 0.8f;
    DONE(drystone_query(stepper, rays, 3));
    DONE(drystone_query_hit(stepper, 0, 0, &hit, &count));
    CHECK(count == 1 && hit.body == body && hit.collider == 0 && fabsf(hit.distance - 9.5f) < 1e-4f);
    CHECK(fabsf(hit.point[1] - 0.5f) < 1e-4f && fabsf(hit.normal[1] - 1) < 1e-4f);
    GIVES(drystone_query_hit(stepper, 0, 1, &hit, NULL), NOTHING, "");
    GIVES(drystone_query_hit(stepper, 1, 0, &hit, &count), NOTHING, "");
    CHECK(count == 0);
    DONE(drystone_query_hit(stepper, 2, 0, &hit, &count));
    CHECK(count == 1 && hit.body == body);
    GIVES(drystone_query_hit(stepper, 3, 0, &hit, &count), ERROR_VALUE, "the last answers are to 3");
    DONE(drystone_remove_body(stepper, body));

    /* Passes and memory by name. */
    DrystonePass pass = {.struct_size = sizeof pass};
    DrystoneMemoryUse memory = {.struct_size = sizeof memory};
    GIVES(drystone_report_pass(stepper, 1000, &pass), ERROR_VALUE, "there is no pass 1000");
    GIVES(drystone_memory(stepper, 0, &memory, NULL), ERROR_POINTER, "`count` is NULL");
    GIVES(drystone_memory(stepper, 100000, &memory, &count), ERROR_VALUE, "there is no part 100000");
    DONE(drystone_memory(stepper, 0, &memory, &count));
    CHECK(count > 10 && memory.bytes > 0 && memory.name[0] != 0);
    shape.reports = DRYSTONE_REPORTS_BEGIN, shape.report_impulse = -1;
    GIVES(drystone_add_body(stepper, &desc, &body), ERROR_VALUE, "report_impulse");
}

int main(void) {
    CHECK(drystone_last_error()[0] == 0);
    DrystoneStepperDesc choices = {.struct_size = sizeof choices};
    DONE(drystone_stepper_defaults(&choices));
    choices.threads = 1;
    DONE(drystone_stepper_create_cpu(&choices, &stepper));
    pointers();
    sizes();
    values();
    joints();
    handles();
    steps();
    asked();
    past();
    own_buffers();
    DONE(drystone_stepper_destroy(stepper));
    printf("%d calls were refused by name\n", refused);
    return 0;
}
