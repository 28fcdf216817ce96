"""Laws about the work that texts from outside can make."""
