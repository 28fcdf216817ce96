"""What has to hold in every schedule: each invariant is a class."""
