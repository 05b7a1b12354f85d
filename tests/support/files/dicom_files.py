"""DICOM files of several frames and of series, made by pydicom."""

import io

from support.picture_files import dicom_of, file_of


def group(**elements):
    """A data set of these elements; a data set among them becomes a sequence of one item."""
    from pydicom.dataset import Dataset

    found = Dataset()
    for name, value in elements.items():
        setattr(found, name, [value] if isinstance(value, Dataset) else value)
    return found


def enhanced(frames, corners, orientation, turned=None, slopes=(), typed=False, **more):
    """An enhanced file of 12 bits; ``turned`` has the orientation of some frames."""
    own = []
    for number, corner in enumerate(corners):
        of_frame = {}
        if corner is not None:
            of_frame["PlanePositionSequence"] = group(ImagePositionPatient=corner)
        if turned and number in turned:
            of_frame["PlaneOrientationSequence"] = group(ImageOrientationPatient=turned[number])
        if slopes:
            of_frame["PixelValueTransformationSequence"] = of_values(slopes[number])
        own.append(group(**of_frame))
    shared = {
        "PlaneOrientationSequence": group(ImageOrientationPatient=orientation),
        "PixelValueTransformationSequence": of_values(1),
    }
    if typed:
        shared["CTImageFrameTypeSequence"] = group(FrameType=["ORIGINAL", "PRIMARY"])
    return dicom_of(
        frames[0], 12, samples_as=frames, NumberOfFrames=len(frames),
        SharedFunctionalGroupsSequence=[group(**shared)],
        PerFrameFunctionalGroupsSequence=own, **more,
    )  # fmt: skip


def of_values(slope):
    """The item that makes Hounsfield units of stored levels."""
    return group(RescaleSlope=str(slope), RescaleIntercept="-1024", RescaleType="HU")


def compressed(frames, syntax="1.2.840.10008.1.2.4.90", bits=8, **more):
    """A file of frames that are compressed by JPEG 2000 without loss."""
    from pydicom import dcmread
    from pydicom.encaps import encapsulate

    file = dcmread(io.BytesIO(dicom_of(frames[0], bits, NumberOfFrames=len(frames), **more)))
    file.file_meta.TransferSyntaxUID = syntax
    coded = [file_of(each, "JPEG2000", no_jp2=True, irreversible=False) for each in frames]
    file.PixelData = encapsulate(coded)
    file["PixelData"].VR = "OB"
    file["PixelData"].is_undefined_length = True
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def slice_of(samples, position, orientation=(1, 0, 0, 0, 1, 0), uid="1.2.3", **more):
    """A CT slice of 12 bits at a place along z, or of a whole position."""
    if position is not None:
        corner = position if isinstance(position, (list, tuple)) else [0, 0, position]
        placed = {"ImagePositionPatient": corner, "ImageOrientationPatient": list(orientation)}
        more = {**placed, **more}
    usual = {"Modality": "CT", "SOPClassUID": "1.2.840.10008.5.1.4.1.1.2"}
    return dicom_of(samples, 12, SeriesInstanceUID=uid, **{**usual, **more})
