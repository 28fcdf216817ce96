"""What to do now: a pure function of what is seen, wanted and remembered."""
