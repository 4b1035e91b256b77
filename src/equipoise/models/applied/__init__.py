"""Systems that people run, each written once as a step function: one module per system, and `tables` of eight of them.

The functions of the modules return a `Mechanics` and are public in `equipoise.mechanics`. Those of `tables` return the
`Model` that follows from the same step function when the laws are given, and are public in `equipoise.models`.
"""
