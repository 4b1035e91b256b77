"""What the paper proves, as functions."""

from equipoise.theory import bounds

__all__ = ["bounds"]
