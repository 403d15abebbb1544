"""How files become cases of Relax."""
