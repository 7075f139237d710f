"""Support vector machines, linear and with kernels, soft and hard; the shortest vector of a hull."""
