"""What rows of more than one dialect share. It knows no dialect."""
