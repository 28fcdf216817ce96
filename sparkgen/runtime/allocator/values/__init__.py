"""The values of the allocator: observed pods, the driver's target, memory, actions and decisions."""
