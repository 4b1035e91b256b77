"""Foundations of everything that is compiled or takes long: kernels and their cache, frames, threads, messages."""
