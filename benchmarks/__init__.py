"""Benchmarks: how fast `resolve` and the start of `mesh` are, as ratios to plain floors.

Run with `python -m benchmarks`; README.md says how to read the table. Nothing else imports this
package.
"""
