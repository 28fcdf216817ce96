"""Decides what to do now: a pure function of the observed cluster, the driver's target and the memory."""
