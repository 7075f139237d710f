"""Sparse models: an L1 penalty or an elastic net, which make most weights exactly 0."""
