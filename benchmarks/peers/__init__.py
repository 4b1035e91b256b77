"""Scalar learners of another package on the same problems as ours: `python -m benchmarks.peers`."""
