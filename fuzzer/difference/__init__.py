"""`fuzz diff`: two toolchains, what reaches the code that differs, and what fails in one of them alone."""
