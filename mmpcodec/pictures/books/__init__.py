"""Files of several pictures of all formats: books of pages, series of slices, animations."""
