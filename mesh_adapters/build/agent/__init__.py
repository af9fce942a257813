"""The builder's loop: takes a request, has it built by a process of its own, answers, acknowledges."""
