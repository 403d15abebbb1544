"""The references of cases of the toy."""
