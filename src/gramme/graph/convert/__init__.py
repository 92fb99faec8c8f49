"""To and from the objects of other libraries: one module per library."""
