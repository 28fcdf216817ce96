"""The command line: the only layer that prints and exits. Commands import what they need when they run."""
