"""The pictures of an mmp file as a sequence, each read when it is asked for."""


from mmpcodec.pictures.mmp.reader import MmpReader


class PictureOfSeries(MmpReader):
    """A picture of a file of several; reads its parts as ``MmpReader`` does.

    Attributes
    ----------
    role : {"page", "frame", "slice", "level", "thumbnail"}
    duration : Fraction or None
        Seconds that a frame is shown.
    position : float or None
        Place of a slice along its series in millimetres.
    of : int or None
        Number of the picture, from 1, of which this one is a smaller rendition.
    """
