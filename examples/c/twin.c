/* The scene of examples/c_twin.rs in C, on the CPU and in the host's own Vulkan frames. Usage: twin DEVICE...
 *   DEVICE   "cpu", or a part of the name of a Vulkan device
 * Prints a hash of the poses of each: the same that the twins in C++ and Rust print. All numbers are exact in binary, so that no
 * compiler rounds them in its own way. */
#include "host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 120, BOXES = 48, MOST_BODIES = 128 };
static const float DT = 1.0f / 64.0f;

static void must(DrystoneResult result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: %d, %s\n", what, (int)result, drystone_last_error());
        exit(1);
    }
}

typedef struct Scene {
    DrystoneStepper *stepper;
    DrystoneBody boxes[BOXES];
    DrystoneBody lift;
} Scene;

static DrystoneCollider shape(uint32_t which) {
    DrystoneCollider collider = {.struct_size = sizeof collider};
    must(drystone_collider_defaults(&collider), "drystone_collider_defaults");
    collider.shape = which;
    return collider;
}

static DrystoneCollider block(float x, float y, float z) {
    DrystoneCollider collider = shape(DRYSTONE_SHAPE_BOX);
    collider.half[0] = x, collider.half[1] = y, collider.half[2] = z;
    return collider;
}

static DrystoneCollider round_shape(uint32_t which, float half_height, float radius) {
    DrystoneCollider collider = shape(which);
    collider.half_height = half_height, collider.radius = radius;
    return collider;
}

static DrystoneBody add(Scene *scene, uint32_t kind, float x, float y, float z, const DrystoneCollider *colliders,
                        uint32_t count) {
    DrystoneBodyDesc desc = {.struct_size = sizeof desc};
    must(drystone_body_defaults(&desc), "drystone_body_defaults");
    desc.kind = kind;
    desc.position[0] = x, desc.position[1] = y, desc.position[2] = z;
    desc.colliders = colliders, desc.collider_count = count;
    DrystoneBody body;
    must(drystone_add_body(scene->stepper, &desc, &body), "drystone_add_body");
    return body;
}

static DrystoneBody drop(Scene *scene, float x, float y, float z, DrystoneCollider collider) {
    return add(scene, DRYSTONE_BODY_KIND_DYNAMIC, x, y, z, &collider, 1);
}

static DrystoneJointDesc joint(uint32_t kind, DrystoneBody a, DrystoneBody b) {
    DrystoneJointDesc desc = {.struct_size = sizeof desc};
    must(drystone_joint_defaults(&desc), "drystone_joint_defaults");
    desc.kind = kind, desc.body_a = a, desc.body_b = b;
    return desc;
}

static void add_joint(Scene *scene, DrystoneJointDesc desc) {
    DrystoneJoint added;
    must(drystone_add_joint(scene->stepper, &desc, &added), "drystone_add_joint");
}

static void add_shapes(Scene *scene) {
    DrystoneCollider ball = round_shape(DRYSTONE_SHAPE_SPHERE, 0.0f, 0.5f);
    ball.restitution = 0.5f, ball.friction_rolling = 0.0078125f;
    drop(scene, -4.0f, 3.0f, 0.0f, ball);
    drop(scene, -4.0f, 4.5f, 1.0f, round_shape(DRYSTONE_SHAPE_CAPSULE, 0.5f, 0.25f));
    drop(scene, -4.0f, 2.0f, 2.0f, round_shape(DRYSTONE_SHAPE_CYLINDER, 0.25f, 0.5f));
    drop(scene, -4.0f, 3.0f, 3.0f, round_shape(DRYSTONE_SHAPE_CONE, 0.5f, 0.5f));
    static const float points[6][3] = {{0.5f, 0, 0}, {-0.5f, 0, 0}, {0, 0.5f, 0},
                                       {0, -0.5f, 0}, {0, 0, 0.75f}, {0, 0, -0.75f}};
    DrystoneCollider hull = shape(DRYSTONE_SHAPE_HULL);
    hull.points = points[0], hull.point_count = 6;
    drop(scene, -4.0f, 3.0f, -2.0f, hull);
    DrystoneCollider two[2] = {block(0.5f, 0.25f, 0.25f), round_shape(DRYSTONE_SHAPE_SPHERE, 0.0f, 0.375f)};
    two[1].position[0] = 0.5f;
    add(scene, DRYSTONE_BODY_KIND_DYNAMIC, -6.0f, 2.0f, 0.0f, two, 2);
}

static void add_jointed(Scene *scene) {
    DrystoneBody last = 0;
    for (int i = 0; i < 6; i++) {
        DrystoneBody link = drop(scene, 4.5f + (float)i, 6.0f, 0.0f, round_shape(DRYSTONE_SHAPE_SPHERE, 0.0f, 0.25f));
        DrystoneJointDesc ball = joint(DRYSTONE_JOINT_KIND_BALL, link, last);
        ball.anchor_a[0] = -0.5f;
        if (last) ball.anchor_b[0] = 0.5f;
        else ball.anchor_b[0] = 4.0f, ball.anchor_b[1] = 6.0f;
        add_joint(scene, ball);
        last = link;
    }
    DrystoneBody door = drop(scene, 8.0f, 1.5f, 5.0f, block(0.5f, 1.0f, 0.125f));
    DrystoneAxis motor = {.struct_size = sizeof motor};
    must(drystone_axis_defaults(&motor), "drystone_axis_defaults");
    motor.axis = DRYSTONE_JOINT_AXIS_TWIST, motor.drive = DRYSTONE_DRIVE_SPEED, motor.target = 1.0f, motor.max = 4096.0f;
    DrystoneJointDesc hinge = joint(DRYSTONE_JOINT_KIND_HINGE, door, 0);
    hinge.anchor_b[0] = 8.0f, hinge.anchor_b[1] = 1.5f, hinge.anchor_b[2] = 5.0f;
    hinge.axes = &motor, hinge.axis_count = 1;
    add_joint(scene, hinge);
    DrystoneBody weight = drop(scene, 10.0f, 4.0f, 3.0f, round_shape(DRYSTONE_SHAPE_SPHERE, 0.0f, 0.25f));
    DrystoneJointDesc spring = joint(DRYSTONE_JOINT_KIND_SPRING, weight, 0);
    spring.anchor_b[0] = 10.0f, spring.anchor_b[1] = 6.0f, spring.anchor_b[2] = 3.0f;
    spring.length = 1.5f, spring.stiffness = 4096.0f, spring.damping = 16.0f;
    add_joint(scene, spring);
}

static void build(Scene *scene) {
    must(drystone_set_setting(scene->stepper, "iterations", 6.0), "drystone_set_setting");
    DrystoneCollider ground = shape(DRYSTONE_SHAPE_HALF_SPACE);
    ground.friction_static = ground.friction_dynamic = 0.75f;
    add(scene, DRYSTONE_BODY_KIND_STATIC, 0.0f, 0.0f, 0.0f, &ground, 1);
    for (int i = 0; i < BOXES; i++) {
        const float x = (float)(i % 4) * 1.125f - 2.0f, y = 0.25f + (float)(i / 16) * 0.5f,
                    z = (float)(i / 4 % 4) * 1.125f - 2.0f;
        scene->boxes[i] = drop(scene, x, y, z, block(0.5f, 0.25f, 0.5f));
    }
    add_shapes(scene);
    add_jointed(scene);
    DrystoneCollider plate = block(1.0f, 0.25f, 1.0f);
    scene->lift = add(scene, DRYSTONE_BODY_KIND_KINEMATIC, -9.0f, 0.25f, 0.0f, &plate, 1);
    drop(scene, -9.0f, 1.0f, 0.0f, block(0.25f, 0.25f, 0.25f));
}

/* What the game does before a frame, counted from 1. */
static void play(Scene *scene, uint64_t frame) {
    static const float up[3] = {2048.0f, 4096.0f, 0.0f}, none[3] = {0}, upright[4] = {0, 0, 0, 1};
    const float place[3] = {-9.0f, 0.25f + (float)frame / 64.0f, 0.0f};
    must(drystone_set_target(scene->stepper, scene->lift, place, upright), "drystone_set_target");
    if (frame == 30) {
        must(drystone_apply_impulse(scene->stepper, scene->boxes[47], up, none), "drystone_apply_impulse");
        must(drystone_remove_body(scene->stepper, scene->boxes[10]), "drystone_remove_body");
    }
    if (frame == 60) drop(scene, 0.0f, 6.0f, 0.0f, round_shape(DRYSTONE_SHAPE_SPHERE, 0.0f, 0.5f));
}

/* Room for what there will be: in frames, a list that is too short costs a step. */
static DrystoneStepperDesc room(void) {
    DrystoneStepperDesc desc = {.struct_size = sizeof desc};
    must(drystone_stepper_defaults(&desc), "drystone_stepper_defaults");
    desc.frames_in_flight = FRAMES_IN_FLIGHT;
    desc.bodies = MOST_BODIES, desc.pairs = 4096, desc.manifolds = 2048;
    return desc;
}

/* Takes the reports of frames up to `completed`. */
static uint64_t poll(Scene *scene, uint64_t completed) {
    uint64_t last = 0;
    DrystoneReport report = {.struct_size = sizeof report};
    DrystoneResult result;
    while ((result = drystone_poll(scene->stepper, completed, &report)) == DRYSTONE_RESULT_OK) {
        if (report.dropped) fprintf(stderr, "frame %" PRIu64 " was left out\n", report.frame);
        for (uint32_t i = 0; i < report.event_count; i++) {
            DrystoneEvent event = {.struct_size = sizeof event};
            must(drystone_report_event(scene->stepper, i, &event), "drystone_report_event");
        }
        last = report.frame;
    }
    must(result, "drystone_poll");
    return last;
}

static uint64_t on_cpu(void) {
    Scene scene = {0};
    const DrystoneStepperDesc desc = room();
    must(drystone_stepper_create_cpu(&desc, &scene.stepper), "drystone_stepper_create_cpu");
    build(&scene);
    for (uint64_t frame = 1; frame <= FRAMES; frame++) {
        play(&scene, frame);
        must(drystone_prepare(scene.stepper, DT, 0), "drystone_prepare");
        must(drystone_run(scene.stepper, NULL), "drystone_run");
        poll(&scene, frame);
    }
    DrystoneBodyPose poses[MOST_BODIES];
    uint32_t count;
    uint64_t hash;
    must(drystone_read_poses(scene.stepper, poses, MOST_BODIES, &count), "drystone_read_poses");
    must(drystone_pose_hash(poses, count, &hash), "drystone_pose_hash");
    must(drystone_stepper_destroy(scene.stepper), "drystone_stepper_destroy");
    return hash;
}

static uint64_t in_frames(const char *name) {
    Host *host = host_create(name);
    if (!host) exit(1);
    const DrystoneVulkanHost lent = host_lend(host);
    DrystoneKernels *kernels;
    must(drystone_kernels_create(&lent, &kernels), "drystone_kernels_create");
    Scene scene = {0};
    const DrystoneStepperDesc desc = room();
    must(drystone_stepper_create_vulkan(kernels, &desc, &scene.stepper), "drystone_stepper_create_vulkan");
    build(&scene);
    /* What this host does with the poses. A renderer would name its vertex shader. */
    const DrystoneAccess copies = {.struct_size = sizeof copies,
                                   .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   .access = VK_ACCESS_TRANSFER_READ_BIT};
    DrystonePoseView view = {.struct_size = sizeof view};
    for (uint64_t frame = 1; frame <= FRAMES; frame++) {
        VkCommandBuffer commands = host_begin(host, frame);
        const uint64_t completed = host_completed(frame);
        play(&scene, frame);
        must(drystone_prepare(scene.stepper, DT, completed), "drystone_prepare");
        must(drystone_record(scene.stepper, commands, &copies, &copies, NULL), "drystone_record");
        must(drystone_poses(scene.stepper, &view), "drystone_poses");
        host_copy(host, commands, view.current, view.offset, (uint64_t)view.stride * view.count);
        host_submit(host, frame);
        poll(&scene, completed);
    }
    host_wait(host);
    if (poll(&scene, FRAMES) != FRAMES) fprintf(stderr, "the last frame has no report\n");
    if (view.version != DRYSTONE_POSE_VERSION || view.stride != sizeof(DrystoneBodyPose)) {
        fprintf(stderr, "another layout of poses\n");
        exit(1);
    }
    uint64_t hash;
    must(drystone_pose_hash(host_copied(host), view.count, &hash), "drystone_pose_hash");
    must(drystone_kernels_destroy(kernels), "drystone_kernels_destroy");
    must(drystone_stepper_destroy(scene.stepper), "drystone_stepper_destroy");
    host_destroy(host);
    return hash;
}

int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        const uint64_t hash = strcmp(names[i], "cpu") == 0 ? on_cpu() : in_frames(names[i]);
        printf("%s %016" PRIx64 "\n", names[i], hash);
    }
    return count > 1 ? 0 : 2;
}
