"""The values of the allocator: what is seen, wanted, remembered, done and decided."""
