"""What a push says, as it does it: in lines, as objects, or on a terminal."""
