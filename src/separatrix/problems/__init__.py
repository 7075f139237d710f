"""What solvers minimise: a loss over a design, and a penalty."""
