"""Linear support vector machines: min over (w, b) of 1/2 ‖w‖² + sum_i C_i loss(y_i (w.x_i + b)), certified.

`soft` chooses a method by the shape of the data, `hard_margin` is the limit of C_i to infinity.
"""
