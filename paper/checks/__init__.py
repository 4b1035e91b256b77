"""One file a statement of the paper: what it says, what is wrong with it, and `check`, which measures it."""
