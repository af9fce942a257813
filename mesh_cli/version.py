"""The version of the distribution. It stands here alone, where asking for it imports nothing."""

__version__ = "0.1.0"
