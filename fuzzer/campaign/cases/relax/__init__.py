"""What campaigns draw of Relax."""
