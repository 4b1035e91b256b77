"""Known mechanics, unknown laws: what is drawn at a step, from which laws, and what of it is seen.

`laws` holds the finished arrays, `evaluating` calls a step function for everything that can happen, `seeing` works out
what an observation proves about a law, `graph` makes of it what the planner maximises over, and `observing` finds what
was drawn. `equipoise.models.mechanics` is the door to all of them.
"""
