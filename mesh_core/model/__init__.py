"""The values of the core: frozen, slotted, keyword-only; they hold tuples and know no I/O."""
