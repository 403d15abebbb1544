"""The queue of sightings, and which one is investigated next."""
