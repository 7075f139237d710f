"""Questions to ask of data, each answered with a proof: one file a function."""
