"""What a run is asked to do: settings, numbers of tests, configurations, operators that are drawn seldom."""
