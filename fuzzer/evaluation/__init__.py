"""How good difftvm itself is: false alarms, the bugs that the project began with."""
