"""Known dynamics with unknown distributions ("laws"): what is drawn at a step, from which law, and what of it is seen.

`laws` holds the finished arrays, `enumerate` calls a step function for everything that can happen, `identifiability`
works out what an observation proves about a law, `build` makes of it the graph that the planner maximises over, and
`validate` checks steps and models against it. `equipoise.models.mechanics` is the door to all of them.
"""
