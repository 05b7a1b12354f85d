"""Files of several pictures: ``contents`` finds them, ``reading`` opens, ``writing`` adds."""
