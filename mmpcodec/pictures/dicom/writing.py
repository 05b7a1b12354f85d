"""Write DICOM files: what was DICOM again, other pictures as Secondary Capture."""

import io
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.errors import ParameterError
from mmpcodec.format.collection import Role
from mmpcodec.metadata import CALIBRATION, Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.dicom import keeping
from mmpcodec.pictures.dicom.facts import PER_FRAME, items_of
from mmpcodec.pictures.dicom.keeping import GRAY, RGB, KeptAttributes
from mmpcodec.pictures.limits import damage_reported, library

_NAME = "DICOM"
_STRIP = "--strip dicom writes it as Secondary Capture, without these attributes"
_MAKER = "mmpcodec"
_IMPLEMENTATION = "2.25.113218301923158571064920315748102563087"
"""UID of this program as a writer."""
_SECONDARY = "1.2.840.10008.5.1.4.1.1.7"
_GRAY_BYTE, _GRAY_WORD, _TRUE_COLOUR = (f"{_SECONDARY}.{each}" for each in (2, 3, 4))
_LOSSY_CODE = ("113040", "Lossy Compression")
_METHOD = "MMP"
_NANOMETRES = 10**6  # in a millimetre
_PALETTE = "PaletteColorLookupTable"
_COLOURS = ("Red", "Green", "Blue", "Alpha")


@dataclass(frozen=True)
class Origin:
    """What a file that is written knows of the mmp file, besides the picture.

    Parameters
    ----------
    coded_bytes : int or None
        Bytes of the mmp file of the picture, or of all pictures of a file.
    lossless : bool or None
        Whether the mmp file is lossless; None if that is unknown. Samples that were kept with
        their hash tell it themselves.
    series : str
        What all files of a series have alike, such as the name of their collection, so that they
        get the same UIDs; empty for a file alone.
    number : int
        Number of the picture in its series, from 0.
    role : Role
    facts : tuple of int
        See ``collection.FACTS``.
    """

    coded_bytes: int | None = None
    lossless: bool | None = None
    series: str = ""
    number: int = 0
    role: Role = Role.PAGE
    facts: tuple[int, ...] = ()


ALONE = Origin()


def holds(picture: Picture, kind: str) -> bool:
    """Return whether a file keeps metadata of this kind unchanged."""
    metadata = picture.metadata
    if kind == "text":
        return all(key == CALIBRATION for key, _ in metadata.text) and picture.planes == 1
    if kind == "resolution":
        return metadata.resolution is not None and _spacing(metadata) is not None
    if kind == "icc":
        return picture.planes == 3
    return kind == "dicom"


def to_bytes(picture: Picture, format: str, origin: Origin = ALONE) -> bytes:
    """Return a file of a picture.

    With the attributes of a DICOM file among its metadata, the file is that file again: with the
    same UIDs and stored samples if the samples are those that were read, else as a derived image
    with new UIDs, and with the attributes of lossy compression. Without, it is a Secondary Capture
    with new UIDs, the calibration, the window and the spacing.

    Raises
    ------
    ParameterError
        If the picture has another size or depth than its attributes say.
    """
    return book_bytes([picture], origin)


def book_bytes(
    pictures: Sequence[Picture],
    origin: Origin = ALONE,
    facts: Sequence[tuple[int, ...]] = (),
    loops: int = 0,
) -> bytes:
    """Return a file of one or several frames.

    Parameters
    ----------
    pictures : sequence of Picture
        Of one size, depth and number of planes. All with attributes of one DICOM file, or all
        without.
    origin : Origin
        ``role`` is that of the pictures.
    facts : sequence of tuple of int
        Of each picture; empty for pages.
    loops : int
        How often frames are shown; a file does not hold it.

    Raises
    ------
    ParameterError
        If the pictures cannot be the frames of one file.
    """
    library("pydicom", "DICOM", _NAME, extra="dicom")
    first = pictures[0]
    alike = {(each.samples.shape, each.depth) for each in pictures}
    if len(alike) > 1:
        raise ParameterError("dcm: frames of a file must be of one size, depth and form")
    with damage_reported(_NAME):
        found = [keeping.kept(each.metadata, _NAME) for each in pictures]
        attributes = [(each, _checked(each)) for each in found if each is not None]
    if attributes and len(attributes) < len(pictures):
        raise ParameterError("dcm: some of the pictures have DICOM attributes and others none")
    file = (
        _again(pictures, attributes, origin) if attributes else _secondary(pictures, origin, facts)
    )
    file.SamplesPerPixel = first.planes
    return _saved(file)


def is_whole(pictures: Sequence[Metadata]) -> bool:
    """Return whether the attributes of pictures are those of all frames of one DICOM file.

    Raises
    ------
    ValueError
        If the attributes are damaged.
    """
    every = [keeping.kept(each, _NAME) for each in pictures]
    files = [each.dataset() for each in every if each is not None]
    same = len({str(file.get("SOPInstanceUID")) for file in files}) == 1
    return len(files) == len(every) and same and _frames_of(files[0]) == len(files)


def _frames_of(file: Any) -> int:
    return int(file.get("NumberOfFrames") or 1)


def _checked(attributes: KeptAttributes) -> Any:
    """Return attributes as a data set that says how samples are stored.

    Raises
    ------
    ValueError, AttributeError
        If it does not.
    """
    file = attributes.dataset()
    area = int(file.Rows) * int(file.Columns) * int(file.SamplesPerPixel)
    bits, allocated = int(file.BitsStored), int(file.BitsAllocated)
    signed = int(file.PixelRepresentation)
    if not 1 <= bits <= 16 or bits > allocated or allocated not in (1, 8, 16, 32, 64) or signed > 1:
        raise ValueError(f"{bits} bits stored in {allocated}")
    if len(attributes.difference) not in (0, area * allocated // 8):
        raise ValueError("difference of stored samples has another size than the picture")
    return file


def _again(
    pictures: Sequence[Picture], attributes: Sequence[tuple[KeptAttributes, Any]], origin: Origin
) -> Any:
    """Return the data set of the DICOM file that pictures were, with their samples."""
    files = [each for _, each in attributes]
    file, first = files[0], pictures[0]
    if len({str(each.get("SOPInstanceUID")) for each in files}) > 1:
        raise ParameterError(
            "dcm: the pictures are of several DICOM files; -O DIR --format dcm writes them again"
        )
    rows, columns = first.samples.shape[:2]
    if (rows, columns) != (file.Rows, file.Columns):
        raise ParameterError(
            f"dcm: the picture is {columns}x{rows}, its DICOM attributes are those of "
            f"{file.Columns}x{file.Rows}; {_STRIP}"
        )
    kind, frames = str(file.get("PhotometricInterpretation")), _frames_of(file)
    gray, converted = kind in GRAY, kind not in (*GRAY, RGB)
    bits = int(file.BitsStored)
    if gray != (first.planes == 1) or (not converted and bits != first.depth):
        raise ParameterError(
            f"dcm: the picture is {first.kind} of {first.depth} bits, its DICOM attributes are "
            f"those of {kind} of {bits} bits; {_STRIP}"
        )
    exact = all(
        each.digest == keeping.digest_of(picture)
        for picture, (each, _) in zip(pictures, attributes, strict=True)
    )
    if converted:
        _set_pixels(file, first, RGB)
        for colour in _COLOURS:
            for name in ("Descriptor", "Data"):
                _drop(file, f"{colour}{_PALETTE}{name}")
    if first.planes == 3:
        file.PlanarConfiguration = 0
    words = [
        _words(picture, each, file, exact=exact)
        for picture, (each, _) in zip(pictures, attributes, strict=True)
    ]
    if len(files) > 1 and (groups := keeping.joined_groups(files)):
        setattr(file, PER_FRAME, groups)
    if "NumberOfFrames" in file:
        file.NumberOfFrames = len(pictures)
    _set_samples(file, words)
    changes = [] if exact else ["compressed by mmpcodec with loss"]
    changes += ["colours converted to RGB"] if converted else []
    if len(pictures) != frames:
        changes.append(f"{len(pictures)} of {frames} frames")
        for keyword in ("FrameIncrementPointer", "FrameTime", "FrameTimeVector"):
            _drop(file, keyword)
    if changes:
        _derive(file, pictures, changes, origin, lossy=not exact)
    return file


def _words(picture: Picture, attributes: KeptAttributes, file: Any, *, exact: bool) -> np.ndarray:
    """Return samples as they are stored."""
    words = keeping.words_of(picture, file)
    assert words is not None
    if exact and attributes.difference:
        words = words ^ np.frombuffer(attributes.difference, words.dtype).reshape(words.shape)
    return words


def _set_samples(file: Any, words: Sequence[np.ndarray]) -> None:
    """Give a data set its samples."""
    stored = np.stack(words)
    if int(file.BitsAllocated) == 1:
        data = np.packbits((stored & 1).astype(np.uint8).ravel(), bitorder="little").tobytes()
    else:
        data = stored.tobytes()
    file.add_new(
        "PixelData",
        "OW" if int(file.BitsAllocated) > BYTE else "OB",
        data + b"\0" * (len(data) % 2),
    )


def _derive(
    file: Any, pictures: Sequence[Picture], changes: Sequence[str], origin: Origin, *, lossy: bool
) -> None:
    """Say that a file is derived from the one whose attributes it has. Source: PS3.3, C.7.6.1."""
    from pydicom.dataset import Dataset
    from pydicom.multival import MultiValue

    source = Dataset()
    source.ReferencedSOPClassUID = file.get("SOPClassUID") or _SECONDARY
    old = str(file.get("SOPInstanceUID") or "")
    if old:
        source.ReferencedSOPInstanceUID = old
        file.SourceImageSequence = [source]
    digests = "".join(keeping.digest_of(each).hex() for each in pictures)
    file.SOPInstanceUID = _uid(old, digests)
    if "SeriesInstanceUID" in file:
        file.SeriesInstanceUID = _uid(str(file.SeriesInstanceUID), "lossy" if lossy else "derived")
    file.ImageType = _derived(file.get("ImageType"), ["DERIVED", "PRIMARY"])
    for groups in (*items_of(file, PER_FRAME), *items_of(file, "SharedFunctionalGroupsSequence")):
        for element in groups:
            for item in element.value if element.VR == "SQ" else ():
                if "FrameType" in item:
                    item.FrameType = _derived(item.FrameType, [])
    said = str(file.get("DerivationDescription") or "")
    file.DerivationDescription = "; ".join([*([said] if said else []), *changes])[:1024]
    if not lossy:
        return
    code = Dataset()
    code.CodeValue, code.CodeMeaning = _LOSSY_CODE
    code.CodingSchemeDesignator = "DCM"
    file.DerivationCodeSequence = [*items_of(file, "DerivationCodeSequence"), code]
    file.LossyImageCompression = "01"

    def appended(keyword: str, value: Any) -> None:
        before = file.get(keyword)
        several = [*before] if isinstance(before, MultiValue) else [before] if before else []
        setattr(file, keyword, [*several, value])

    if origin.coded_bytes:
        stored = len(file.PixelData) / origin.coded_bytes
        appended("LossyImageCompressionRatio", f"{stored:.4g}")
    appended("LossyImageCompressionMethod", _METHOD)


def _derived(before: Any, usual: list[str]) -> list[str]:
    """Return the values of an ImageType of a derived image."""
    values = [before] if isinstance(before, str) else [*(before or usual)]
    return ["DERIVED", *map(str, values[1:])]


def _secondary(
    pictures: Sequence[Picture], origin: Origin, facts: Sequence[tuple[int, ...]]
) -> Any:
    """Return the data set of a Secondary Capture. Source: PS3.3, A.8."""
    from pydicom.dataset import Dataset

    file, first = Dataset(), pictures[0]
    digests = "".join(keeping.digest_of(each).hex() for each in pictures)
    series = origin.series or digests
    several = len(pictures) > 1
    file.SpecificCharacterSet = "ISO_IR 192"
    file.ImageType = ["DERIVED", "SECONDARY"]
    file.SOPClassUID = _class_of(first) if several else _SECONDARY
    file.SOPInstanceUID = _uid(series, digests, str(origin.number))
    for keyword in (
        "StudyDate", "StudyTime", "AccessionNumber", "ReferringPhysicianName", "PatientName",
        "PatientID", "PatientBirthDate", "PatientSex", "StudyID", "SeriesNumber",
        "PatientOrientation",
    ):  # fmt: skip
        setattr(file, keyword, "")
    file.Modality, file.ConversionType = "OT", "WSD"
    file.SecondaryCaptureDeviceManufacturer = _MAKER
    file.StudyInstanceUID, file.SeriesInstanceUID = _uid(series, "study"), _uid(series, "series")
    file.InstanceNumber = str(origin.number + 1)
    _set_pixels(file, first, RGB if first.planes == 3 else GRAY[1])
    if first.planes == 3:
        file.PlanarConfiguration = 0
        if first.metadata.icc:
            file.ICCProfile = first.metadata.icc
    spacing = _spacing(first.metadata)
    if origin.lossless is False:
        file.LossyImageCompression = "01"
        file.LossyImageCompressionMethod = _METHOD
    place = origin.facts
    if several:
        _set_frames(file, pictures, origin.role, facts)
    else:
        _set_values(file, file, first)
        if spacing:
            file.PixelSpacing = [*spacing]
        if origin.role == Role.SLICE and place:
            file.ImagePositionPatient = ["0", "0", _ds(place[0] / _NANOMETRES)]
            file.ImageOrientationPatient = ["1", "0", "0", "0", "1", "0"]
            file.FrameOfReferenceUID = _uid(series, "place")
            file.PositionReferenceIndicator = ""
    words = [keeping.words_of(each, file) for each in pictures]
    _set_samples(file, [each for each in words if each is not None])
    if origin.lossless is False and origin.coded_bytes:
        file.LossyImageCompressionRatio = f"{len(file.PixelData) / origin.coded_bytes:.4g}"
    return file


def _class_of(picture: Picture) -> str:
    """Return the class of a Secondary Capture of several frames."""
    if picture.planes == 3:
        return _TRUE_COLOUR
    return _GRAY_BYTE if picture.depth <= BYTE else _GRAY_WORD


def _set_frames(
    file: Any, pictures: Sequence[Picture], role: Role, facts: Sequence[tuple[int, ...]]
) -> None:
    """Give a data set the elements of several frames."""
    from pydicom.tag import Tag

    file.NumberOfFrames = len(pictures)
    if role == Role.FRAME and facts:
        times = [Fraction(*each) * 1000 for each in facts]
        if len(set(times)) == 1:
            file.FrameTime, pointer = _ds(float(times[0])), "FrameTime"
        else:
            file.FrameTimeVector = ["0", *(_ds(float(each)) for each in times[:-1])]
            pointer = "FrameTimeVector"
        file.FrameIncrementPointer = Tag(pointer)
    shared, own = _data_set(), [_data_set() for _ in pictures]
    if spacing := _spacing(pictures[0].metadata):
        shared.PixelMeasuresSequence = [_data_set(PixelSpacing=[*spacing])]
    if role == Role.SLICE and facts:
        file.FrameOfReferenceUID = _uid(str(file.SeriesInstanceUID), "place")
        file.PositionReferenceIndicator = ""
        turned = _data_set(ImageOrientationPatient=["1", "0", "0", "0", "1", "0"])
        shared.PlaneOrientationSequence = [turned]
        for each, (place,) in zip(own, facts, strict=True):
            corner = ["0", "0", _ds(place / _NANOMETRES)]
            each.PlanePositionSequence = [_data_set(ImagePositionPatient=corner)]
    for each, picture in zip(own, pictures, strict=True):
        if picture.metadata.calibration is not None:
            rescale, window = _data_set(), _data_set()
            _set_values(rescale, window, picture)
            each.PixelValueTransformationSequence = [rescale]
            if len(window):
                each.FrameVOILUTSequence = [window]
    if len(shared) or any(map(len, own)):
        file.SharedFunctionalGroupsSequence = [shared]
        setattr(file, PER_FRAME, own)
    padding = {each.metadata.calibration.padding for each in pictures if each.metadata.calibration}
    if len(padding) == 1:
        _set_padding(file, padding.pop())


def _data_set(**elements: Any) -> Any:
    from pydicom.dataset import Dataset

    found = Dataset()
    for keyword, value in elements.items():
        setattr(found, keyword, value)
    return found


def _set_values(rescale: Any, window: Any, picture: Picture) -> None:
    """Give data sets the slope, intercept and unit, and the window, of a picture."""
    found = picture.metadata.calibration
    if found is None or picture.planes != 1:
        return
    rescale.RescaleSlope, rescale.RescaleIntercept = _ds(found.slope), _ds(found.intercept)
    rescale.RescaleType = found.unit or "US"
    if found.window is not None:
        low, high = found.window
        # Of a LINEAR window. Source: PS3.3, C.11.2.1.2.
        window.WindowCenter, window.WindowWidth = _ds((low + high + 1) / 2), _ds(high - low + 1)
    if rescale is window:
        _set_padding(rescale, found.padding)


def _set_padding(file: Any, padding: tuple[int, int] | None) -> None:
    if padding is not None:
        file.add_new("PixelPaddingValue", "US", padding[0])
        if padding[1] > padding[0]:
            file.add_new("PixelPaddingRangeLimit", "US", padding[1])


def _set_pixels(file: Any, picture: Picture, kind: str) -> None:
    """Say that samples are unsigned, in as many bits as the picture has."""
    file.PhotometricInterpretation = kind
    file.Rows, file.Columns = picture.samples.shape[:2]
    file.SamplesPerPixel = picture.planes
    file.BitsAllocated = BYTE if picture.depth <= BYTE else 2 * BYTE
    file.BitsStored, file.HighBit = picture.depth, picture.depth - 1
    file.PixelRepresentation = 0


def _spacing(metadata: Metadata) -> tuple[str, str] | None:
    """Return the distances of rows and of columns in mm."""
    found = metadata.resolution and metadata.resolution.per_metre()
    return None if not found else (_ds(float(1000 / found[1])), _ds(float(1000 / found[0])))


def _drop(file: Any, keyword: str) -> None:
    if keyword in file:
        delattr(file, keyword)


def _ds(value: float) -> str:
    """Return a number in the 16 characters that DICOM allows."""
    from pydicom.valuerep import format_number_as_ds

    return (
        str(int(value)) if value == int(value) and abs(value) < 1e15 else format_number_as_ds(value)
    )


def _uid(*parts: str) -> str:
    """Return a UID that depends on texts alone, so that a file written again is the same."""
    return f"2.25.{uuid.uuid5(uuid.NAMESPACE_OID, '/'.join([_MAKER, *parts])).int}"


def _saved(file: Any) -> bytes:
    """Return the bytes of a file in explicit VR little endian."""
    from pydicom.dataset import FileMetaDataset
    from pydicom.filewriter import dcmwrite
    from pydicom.uid import ExplicitVRLittleEndian

    meta: Any = FileMetaDataset()
    meta.MediaStorageSOPClassUID = file.get("SOPClassUID") or _SECONDARY
    meta.MediaStorageSOPInstanceUID = file.get("SOPInstanceUID") or _uid(str(len(file.PixelData)))
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.ImplementationClassUID, meta.ImplementationVersionName = _IMPLEMENTATION, "MMPCODEC"
    file.file_meta = meta
    stream = io.BytesIO()
    dcmwrite(stream, file, implicit_vr=False, little_endian=True, enforce_file_format=True)
    return stream.getvalue()
