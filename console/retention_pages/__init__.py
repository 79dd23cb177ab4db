"""What the pages of retention read and how their forms look; the services are retention's own."""
