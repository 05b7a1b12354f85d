"""Side information of pictures: facts in several places agree, and profiles fit the colours."""
