"""Running kernels over all inputs: in this process, in a pool or on a cluster, always with the same rows."""
