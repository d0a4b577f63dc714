// The scene of examples/c_twin.rs in C++, as twin.c has it in C: see there. Shows how little it takes to give the handles
// owners and to make errors exceptions.
#include "host.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::uint64_t frames = 120;
constexpr std::uint32_t most_bodies = 128;
constexpr float dt = 1.0f / 64.0f;

void check(DrystoneResult result) {
    if (result < 0) throw std::runtime_error(drystone_last_error());
}

// A struct with its size in it and every field as it is by default.
template <typename T> T defaults(DrystoneResult (*fill)(T *)) {
    T value{};
    value.struct_size = sizeof value;
    check(fill(&value));
    return value;
}

template <typename T> T sized() {
    T value{};
    value.struct_size = sizeof value;
    return value;
}

struct Destroy {
    void operator()(DrystoneStepper *stepper) const { drystone_stepper_destroy(stepper); }
    void operator()(DrystoneKernels *kernels) const { drystone_kernels_destroy(kernels); }
    void operator()(Host *host) const { host_destroy(host); }
};
template <typename T> using Owned = std::unique_ptr<T, Destroy>;

using Vector = std::array<float, 3>;

template <std::size_t N> void set(float (&to)[N], const std::array<float, N> &from) {
    for (std::size_t i = 0; i < N; i++) to[i] = from[i];
}

DrystoneCollider shape(DrystoneShape which, float half_height = 0.0f, float radius = 0.0f) {
    auto collider = defaults(drystone_collider_defaults);
    collider.shape = which;
    collider.half_height = half_height;
    collider.radius = radius;
    return collider;
}

DrystoneCollider block(Vector half) {
    auto collider = shape(DRYSTONE_SHAPE_BOX);
    set(collider.half, half);
    return collider;
}

class Scene {
public:
    explicit Scene(Owned<DrystoneStepper> stepper) : stepper_(std::move(stepper)) {
        check(drystone_set_setting(get(), "iterations", 6.0));
        auto ground = shape(DRYSTONE_SHAPE_HALF_SPACE);
        ground.friction_static = ground.friction_dynamic = 0.75f;
        add(DRYSTONE_BODY_KIND_STATIC, {0, 0, 0}, {ground});
        for (int i = 0; i < 48; i++) {
            const Vector at = {float(i % 4) * 1.125f - 2.0f, 0.25f + float(i / 16) * 0.5f,
                               float(i / 4 % 4) * 1.125f - 2.0f};
            boxes_.push_back(drop(at, block({0.5f, 0.25f, 0.5f})));
        }
        add_shapes();
        add_jointed();
        lift_ = add(DRYSTONE_BODY_KIND_KINEMATIC, {-9, 0.25f, 0}, {block({1, 0.25f, 1})});
        drop({-9, 1, 0}, block({0.25f, 0.25f, 0.25f}));
    }

    DrystoneStepper *get() const { return stepper_.get(); }

    // What the game does before a frame, counted from 1.
    void play(std::uint64_t frame) {
        const Vector up = {2048, 4096, 0}, none = {}, place = {-9, 0.25f + float(frame) / 64.0f, 0};
        const std::array<float, 4> upright = {0, 0, 0, 1};
        check(drystone_set_target(get(), lift_, place.data(), upright.data()));
        if (frame == 30) {
            check(drystone_apply_impulse(get(), boxes_[47], up.data(), none.data()));
            check(drystone_remove_body(get(), boxes_[10]));
        }
        if (frame == 60) drop({0, 6, 0}, shape(DRYSTONE_SHAPE_SPHERE, 0, 0.5f));
    }

    // Steps that were left out in frames up to `completed`.
    std::uint32_t dropped(std::uint64_t completed) {
        auto report = sized<DrystoneReport>();
        std::uint32_t sum = 0;
        for (;;) {
            const auto result = drystone_poll(get(), completed, &report);
            check(result);
            if (result == DRYSTONE_RESULT_NOTHING) return sum;
            sum += report.dropped;
        }
    }

private:
    DrystoneBody add(DrystoneBodyKind kind, Vector at, const std::vector<DrystoneCollider> &colliders) {
        auto desc = defaults(drystone_body_defaults);
        desc.kind = kind;
        set(desc.position, at);
        desc.colliders = colliders.data();
        desc.collider_count = std::uint32_t(colliders.size());
        DrystoneBody body;
        check(drystone_add_body(get(), &desc, &body));
        return body;
    }

    DrystoneBody drop(Vector at, const DrystoneCollider &collider) {
        return add(DRYSTONE_BODY_KIND_DYNAMIC, at, {collider});
    }

    void join(DrystoneJointDesc desc, DrystoneBody a, DrystoneBody b, Vector on_a, Vector on_b) {
        desc.body_a = a;
        desc.body_b = b;
        set(desc.anchor_a, on_a);
        set(desc.anchor_b, on_b);
        DrystoneJoint joint;
        check(drystone_add_joint(get(), &desc, &joint));
    }

    void add_shapes() {
        auto ball = shape(DRYSTONE_SHAPE_SPHERE, 0, 0.5f);
        ball.restitution = 0.5f;
        ball.friction_rolling = 0.0078125f;
        drop({-4, 3, 0}, ball);
        drop({-4, 4.5f, 1}, shape(DRYSTONE_SHAPE_CAPSULE, 0.5f, 0.25f));
        drop({-4, 2, 2}, shape(DRYSTONE_SHAPE_CYLINDER, 0.25f, 0.5f));
        drop({-4, 3, 3}, shape(DRYSTONE_SHAPE_CONE, 0.5f, 0.5f));
        const std::array<float, 18> points = {0.5f, 0, 0, -0.5f, 0, 0, 0, 0.5f, 0, 0, -0.5f, 0, 0, 0, 0.75f, 0, 0, -0.75f};
        auto hull = shape(DRYSTONE_SHAPE_HULL);
        hull.points = points.data();
        hull.point_count = 6;
        drop({-4, 3, -2}, hull);
        auto knob = shape(DRYSTONE_SHAPE_SPHERE, 0, 0.375f);
        knob.position[0] = 0.5f;
        add(DRYSTONE_BODY_KIND_DYNAMIC, {-6, 2, 0}, {block({0.5f, 0.25f, 0.25f}), knob});
    }

    void add_jointed() {
        DrystoneBody last = 0;
        for (int i = 0; i < 6; i++) {
            const auto link = drop({4.5f + float(i), 6, 0}, shape(DRYSTONE_SHAPE_SPHERE, 0, 0.25f));
            const Vector there = last ? Vector{0.5f, 0, 0} : Vector{4, 6, 0};
            join(defaults(drystone_joint_defaults), link, last, {-0.5f, 0, 0}, there);
            last = link;
        }
        auto motor = defaults(drystone_axis_defaults);
        motor.axis = DRYSTONE_JOINT_AXIS_TWIST;
        motor.drive = DRYSTONE_DRIVE_SPEED;
        motor.target = 1;
        motor.max = 4096;
        auto hinge = defaults(drystone_joint_defaults);
        hinge.kind = DRYSTONE_JOINT_KIND_HINGE;
        hinge.axes = &motor;
        hinge.axis_count = 1;
        join(hinge, drop({8, 1.5f, 5}, block({0.5f, 1, 0.125f})), 0, {0, 0, 0}, {8, 1.5f, 5});
        auto spring = defaults(drystone_joint_defaults);
        spring.kind = DRYSTONE_JOINT_KIND_SPRING;
        spring.length = 1.5f;
        spring.stiffness = 4096;
        spring.damping = 16;
        join(spring, drop({10, 4, 3}, shape(DRYSTONE_SHAPE_SPHERE, 0, 0.25f)), 0, {0, 0, 0}, {10, 6, 3});
    }

    Owned<DrystoneStepper> stepper_;
    std::vector<DrystoneBody> boxes_;
    DrystoneBody lift_ = 0;
};

// Room for what there will be: in frames, a list that is too short costs a step.
DrystoneStepperDesc room() {
    auto desc = defaults(drystone_stepper_defaults);
    desc.frames_in_flight = FRAMES_IN_FLIGHT;
    desc.bodies = most_bodies;
    desc.pairs = 4096;
    desc.manifolds = 2048;
    return desc;
}

std::uint64_t hash_of(const DrystoneBodyPose *poses, std::uint32_t count) {
    std::uint64_t hash;
    check(drystone_pose_hash(poses, count, &hash));
    return hash;
}

std::uint64_t on_cpu() {
    DrystoneStepper *made = nullptr;
    const auto desc = room();
    check(drystone_stepper_create_cpu(&desc, &made));
    Scene scene{Owned<DrystoneStepper>(made)};
    for (std::uint64_t frame = 1; frame <= frames; frame++) {
        scene.play(frame);
        check(drystone_prepare(scene.get(), dt, 0));
        check(drystone_run(scene.get(), nullptr));
        scene.dropped(frame);
    }
    std::array<DrystoneBodyPose, most_bodies> poses;
    std::uint32_t count;
    check(drystone_read_poses(scene.get(), poses.data(), most_bodies, &count));
    return hash_of(poses.data(), count);
}

std::uint64_t in_frames(const char *name) {
    const Owned<Host> host(host_create(name));
    if (!host) throw std::runtime_error("no such device");
    const auto lent = host_lend(host.get());
    DrystoneKernels *kernels_made = nullptr;
    check(drystone_kernels_create(&lent, &kernels_made));
    const Owned<DrystoneKernels> kernels(kernels_made);
    DrystoneStepper *made = nullptr;
    const auto desc = room();
    check(drystone_stepper_create_vulkan(kernels.get(), &desc, &made));
    Scene scene{Owned<DrystoneStepper>(made)};
    auto copies = sized<DrystoneAccess>();
    copies.stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
    copies.access = VK_ACCESS_TRANSFER_READ_BIT;
    auto view = sized<DrystonePoseView>();
    std::uint32_t dropped = 0;
    for (std::uint64_t frame = 1; frame <= frames; frame++) {
        const auto commands = host_begin(host.get(), frame);
        const auto completed = host_completed(frame);
        scene.play(frame);
        check(drystone_prepare(scene.get(), dt, completed));
        check(drystone_record(scene.get(), commands, &copies, &copies, nullptr));
        check(drystone_poses(scene.get(), &view));
        host_copy(host.get(), commands, view.current, view.offset, std::uint64_t(view.stride) * view.count);
        host_submit(host.get(), frame);
        dropped += scene.dropped(completed);
    }
    host_wait(host.get());
    dropped += scene.dropped(frames);
    if (dropped) throw std::runtime_error(std::to_string(dropped) + " steps were left out");
    return hash_of(static_cast<const DrystoneBodyPose *>(host_copied(host.get())), view.count);
}

} // namespace

int main(int count, char **names) try {
    for (int i = 1; i < count; i++) {
        const std::string name = names[i];
        std::printf("%s %016" PRIx64 "\n", names[i], name == "cpu" ? on_cpu() : in_frames(names[i]));
    }
    return count > 1 ? 0 : 2;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
