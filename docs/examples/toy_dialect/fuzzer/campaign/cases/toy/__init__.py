"""What a campaign draws of the toy."""
