// Clusters of CTAs (Hopper and later): their barrier, and the shared memory of others.
#pragma once

DEVICE void meet_cluster() { asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory"); }

// Reads the variable x (in shared memory) of CTA `rank` of the cluster.
DEVICE real there(const real& x, int rank) {
    u64 at;
    asm("mapa.u64 %0, %1, %2;" : "=l"(at) : "l"(&x), "r"(rank));
    return *(const volatile real*)at;
}
