"""Files of the toy: there are none."""
