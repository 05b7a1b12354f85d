"""Opening of files: ``header`` of one picture, ``contents`` of a file of several."""
