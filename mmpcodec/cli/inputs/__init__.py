"""What a command takes from the folders that it is given."""
