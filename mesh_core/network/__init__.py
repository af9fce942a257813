"""The overlay network, pure: who has which address, who reaches whom, who is told what (design, part 8)."""
