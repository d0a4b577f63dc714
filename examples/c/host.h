/* A host's own Vulkan, as small as it gets: an instance, a device, a queue, two frames in flight, and memory that poses are
 * copied to in place of drawing them. Nothing of it is part of drystone. */
#ifndef HOST_H
#define HOST_H

#include "vulkan_subset.h"

#include "drystone.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAMES_IN_FLIGHT = 2, LANDING_SIZE = 1 << 16 };

typedef struct Host Host;

/* Makes a device whose name contains `name`. NULL when there is none; says why on stderr. */
Host *host_create(const char *name);
void host_destroy(Host *host);

/* What drystone borrows. */
DrystoneVulkanHost host_lend(const Host *host);

/* Waits until the command buffer of a frame, counted from 1, is free, and begins it. */
VkCommandBuffer host_begin(Host *host, uint64_t frame);
/* The last frame that is known to be done once `frame` was begun. */
uint64_t host_completed(uint64_t frame);
/* Copies bytes of a buffer to where the host can read them when the frame is done. */
void host_copy(Host *host, VkCommandBuffer commands, VkBuffer from, uint64_t offset, uint64_t size);
/* Ends the commands of a frame and submits them. */
void host_submit(Host *host, uint64_t frame);
/* Waits for all that was submitted. */
void host_wait(Host *host);
/* What was copied last. */
const void *host_copied(const Host *host);

#ifdef __cplusplus
}
#endif
#endif
