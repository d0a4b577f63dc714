/* See host.h. The loader is opened at run time, so that nothing has to be linked. */
#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTANCE_FUNCTIONS(X) \
    X(DestroyInstance) X(EnumeratePhysicalDevices) X(GetPhysicalDeviceMemoryProperties) X(CreateDevice) X(GetDeviceProcAddr)

#define DEVICE_FUNCTIONS(X) \
    X(DestroyDevice) X(GetDeviceQueue) X(QueueSubmit) X(DeviceWaitIdle) X(AllocateMemory) X(FreeMemory) X(MapMemory) \
    X(BindBufferMemory) X(GetBufferMemoryRequirements) X(CreateFence) X(DestroyFence) X(ResetFences) X(WaitForFences) \
    X(CreateBuffer) X(DestroyBuffer) X(CreateCommandPool) X(DestroyCommandPool) X(AllocateCommandBuffers) \
    X(BeginCommandBuffer) X(EndCommandBuffer) X(CmdCopyBuffer) X(CmdPipelineBarrier)

struct Host {
    void *library;
    PFN_vkGetInstanceProcAddr find;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands[FRAMES_IN_FLIGHT];
    VkFence fences[FRAMES_IN_FLIGHT];
    VkBuffer landing;
    VkDeviceMemory memory;
    void *mapped;
#define DECLARE(name) PFN_vk##name name;
    INSTANCE_FUNCTIONS(DECLARE)
    DEVICE_FUNCTIONS(DECLARE)
#undef DECLARE
};

/* Vulkan failed where this small host has no other way to go. */
static void must(VkResult result, const char *what) {
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, (int)result);
        exit(1);
    }
}

static int choose(Host *host, const char *name) {
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    must(host->EnumeratePhysicalDevices(host->instance, &count, all) < 0, "vkEnumeratePhysicalDevices");
    for (uint32_t i = 0; i < count; i++) {
        /* Before a device is made: what does it lack? */
        DrystoneSupport support = {.struct_size = sizeof support};
        if (drystone_vulkan_support(host->find, host->instance, all[i], &support) != DRYSTONE_RESULT_OK) {
            fprintf(stderr, "drystone_vulkan_support: %s\n", drystone_last_error());
            return 0;
        }
        if (!support.usable) fprintf(stderr, "%s lacks: %s\n", support.device_name, support.missing);
        if (support.usable && strstr(support.device_name, name)) {
            host->physical_device = all[i];
            host->queue_family = support.compute_family;
            return 1;
        }
    }
    fprintf(stderr, "no device `%s` that can run the kernels\n", name);
    return 0;
}

static void make_device(Host *host) {
    const float priority = 1.0f;
    VkPhysicalDeviceScalarBlockLayoutFeatures scalar = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES};
    VkPhysicalDeviceVulkanMemoryModelFeatures features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, .pNext = &scalar};
    /* The host's features, with those of the kernels added. */
    if (drystone_vulkan_enable(&features) != DRYSTONE_RESULT_OK) {
        fprintf(stderr, "drystone_vulkan_enable: %s\n", drystone_last_error());
        exit(1);
    }
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = host->queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    must(host->CreateDevice(host->physical_device, &info, NULL, &host->device), "vkCreateDevice");
#define LOAD(name) host->name = (PFN_vk##name)host->GetDeviceProcAddr(host->device, "vk" #name);
    DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    host->GetDeviceQueue(host->device, host->queue_family, 0, &host->queue);
}

static void make_frames(Host *host) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = host->queue_family};
    must(host->CreateCommandPool(host->device, &pool, NULL, &host->pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = host->pool,
                                            .commandBufferCount = FRAMES_IN_FLIGHT};
    must(host->AllocateCommandBuffers(host->device, &commands, host->commands), "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    for (int i = 0; i < FRAMES_IN_FLIGHT; i++) {
        must(host->CreateFence(host->device, &fence, NULL, &host->fences[i]), "vkCreateFence");
    }
}

static void make_landing(Host *host) {
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = LANDING_SIZE,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    must(host->CreateBuffer(host->device, &info, NULL, &host->landing), "vkCreateBuffer");
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties has;
    host->GetBufferMemoryRequirements(host->device, host->landing, &needs);
    host->GetPhysicalDeviceMemoryProperties(host->physical_device, &has);
    const uint32_t wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < has.memoryTypeCount &&
           (!(needs.memoryTypeBits & (1u << type)) || (has.memoryTypes[type].propertyFlags & wanted) != wanted)) {
        type++;
    }
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size, .memoryTypeIndex = type};
    must(host->AllocateMemory(host->device, &allocate, NULL, &host->memory), "vkAllocateMemory");
    must(host->BindBufferMemory(host->device, host->landing, host->memory, 0), "vkBindBufferMemory");
    must(host->MapMemory(host->device, host->memory, 0, LANDING_SIZE, 0, &host->mapped), "vkMapMemory");
}

Host *host_create(const char *name) {
    Host *host = calloc(1, sizeof *host);
    if (!host) return NULL;
    host->library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!host->library) {
        fprintf(stderr, "no Vulkan loader: %s\n", dlerror());
        free(host);
        return NULL;
    }
    /* ISO C knows no way from an object's address to a function's: POSIX asks for this one. */
    *(void **)&host->find = dlsym(host->library, "vkGetInstanceProcAddr");
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)host->find(NULL, "vkCreateInstance");
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    must(create(&info, NULL, &host->instance), "vkCreateInstance");
#define LOAD(name) host->name = (PFN_vk##name)host->find(host->instance, "vk" #name);
    INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    if (!choose(host, name)) {
        host->DestroyInstance(host->instance, NULL);
        dlclose(host->library);
        free(host);
        return NULL;
    }
    make_device(host);
    make_frames(host);
    make_landing(host);
    return host;
}

void host_destroy(Host *host) {
    if (!host) return;
    must(host->DeviceWaitIdle(host->device), "vkDeviceWaitIdle");
    host->DestroyBuffer(host->device, host->landing, NULL);
    host->FreeMemory(host->device, host->memory, NULL);
    for (int i = 0; i < FRAMES_IN_FLIGHT; i++) host->DestroyFence(host->device, host->fences[i], NULL);
    host->DestroyCommandPool(host->device, host->pool, NULL);
    host->DestroyDevice(host->device, NULL);
    host->DestroyInstance(host->instance, NULL);
    dlclose(host->library);
    free(host);
}

DrystoneVulkanHost host_lend(const Host *host) {
    DrystoneVulkanHost lent = {.struct_size = sizeof lent,
                               .queue_family = host->queue_family,
                               .get_instance_proc_addr = host->find,
                               .instance = host->instance,
                               .physical_device = host->physical_device,
                               .device = host->device};
    return lent;
}

uint64_t host_completed(uint64_t frame) { return frame > FRAMES_IN_FLIGHT ? frame - FRAMES_IN_FLIGHT : 0; }

VkCommandBuffer host_begin(Host *host, uint64_t frame) {
    const int slot = (int)(frame % FRAMES_IN_FLIGHT);
    must(host->WaitForFences(host->device, 1, &host->fences[slot], VK_TRUE, UINT64_MAX), "vkWaitForFences");
    must(host->ResetFences(host->device, 1, &host->fences[slot]), "vkResetFences");
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    must(host->BeginCommandBuffer(host->commands[slot], &begin), "vkBeginCommandBuffer");
    return host->commands[slot];
}

void host_copy(Host *host, VkCommandBuffer commands, VkBuffer from, uint64_t offset, uint64_t size) {
    VkBufferCopy region = {.srcOffset = offset, .size = size < LANDING_SIZE ? size : LANDING_SIZE};
    host->CmdCopyBuffer(commands, from, host->landing, 1, &region);
    VkMemoryBarrier written = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    host->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &written, 0, NULL, 0,
                             NULL);
}

void host_submit(Host *host, uint64_t frame) {
    const int slot = (int)(frame % FRAMES_IN_FLIGHT);
    must(host->EndCommandBuffer(host->commands[slot]), "vkEndCommandBuffer");
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &host->commands[slot]};
    must(host->QueueSubmit(host->queue, 1, &submit, host->fences[slot]), "vkQueueSubmit");
}

void host_wait(Host *host) { must(host->DeviceWaitIdle(host->device), "vkDeviceWaitIdle"); }

const void *host_copied(const Host *host) { return host->mapped; }
