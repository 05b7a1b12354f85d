"""Write DICOM files: what was DICOM again, other pictures as Secondary Capture."""

import io
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.metadata import CALIBRATION, Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.dicom import keeping
from mmpcodec.pictures.dicom.facts import PER_FRAME, items_of, value_of
from mmpcodec.pictures.dicom.keeping import GRAY, RGB, KeptAttributes
from mmpcodec.pictures.limits import damage_reported, library
from mmpcodec.pictures.side.origin import ALONE, Origin

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
    """Return a file of a picture; see ``write``."""
    stream = io.BytesIO()
    write([picture], stream, origin)
    return stream.getvalue()


def write(
    pictures: Iterable[Picture],
    target: BinaryIO,
    origin: Origin = ALONE,
    facts: Sequence[tuple[int, ...]] = (),
) -> None:
    """Write a file of one or several frames, which are read one after the other.

    With the attributes of a DICOM file among its metadata, the file is that file again: with the
    same UIDs and stored samples if the samples are those that were read, else as a derived image
    with new UIDs, and with the attributes of lossy compression. Without, it is a Secondary Capture
    with new UIDs, the calibration, the window and the spacing.

    Parameters
    ----------
    pictures : iterable of Picture
        Of one size, depth and number of planes. All with attributes of one DICOM file, or all
        without.
    target : binary stream
        At its beginning.
    origin : Origin
        ``role`` is that of the pictures.
    facts : sequence of tuple of int
        Of each picture; empty for pages.

    Raises
    ------
    ParameterError
        If the pictures cannot be the frames of one file, or have another size or depth than their
        attributes say.
    PictureError
        If the attributes are damaged.
    MissingExtra
        If pydicom is not installed.
    """
    library("pydicom", "DICOM", _NAME, extra="dicom")
    with tempfile.TemporaryFile() as spool:
        stored = _Stored(spool)
        for picture in pictures:
            stored.add(picture)
        stored.end()
        try:
            with damage_reported(_NAME):
                file = _again(stored, origin) if stored.files else _secondary(stored, origin, facts)
                file.SamplesPerPixel = stored.first.planes
                spool.seek(0)
                # The samples go from one file to the other.
                file.add_new("PixelData", "OW" if int(file.BitsAllocated) > BYTE else "OB", spool)
                _save(file, target, stored)
        except PictureError as error:
            cause = error.__cause__
            # That of a full disk; pydicom raises others for damaged attributes.
            if isinstance(cause, OSError) and cause.errno is not None:
                raise cause from None
            raise


class _Stored:
    """The frames of a file that is written: their samples go to a stream, the rest stays.

    Parameters
    ----------
    spool : binary stream
    """

    def __init__(self, spool: Any):
        self.metadata: list[Metadata] = []
        self.files: list[Any] = []
        self.digests: list[bytes] = []
        self.exact: list[bool] = []
        self.size = 0
        self._spool = spool
        self._bits = np.empty(0, np.uint8)
        self._first: Picture | None = None
        self._pixels: Any = None

    def __len__(self) -> int:
        return len(self.metadata)

    @property
    def first(self) -> Picture:
        """The first picture."""
        assert self._first is not None
        return self._first

    @property
    def digest(self) -> str:
        """A text that depends on all samples."""
        return b"".join(self.digests).hex()

    def add(self, picture: Picture) -> None:
        """Take the next frame."""
        first = self._first = self._first or picture
        if (first.samples.shape, first.depth) != (picture.samples.shape, picture.depth):
            raise ParameterError("dcm: frames of a file must be of one size, depth and form")
        with damage_reported(_NAME):
            found = keeping.kept(picture.metadata, _NAME)
            own = None if found is None else _checked(found)
        if (own is None) == bool(self.files) and self.metadata:
            raise ParameterError("dcm: some of the pictures have DICOM attributes and others none")
        if own is not None:
            self._check_file(picture, own)
        if self._pixels is None:
            self._pixels = _pixels_of(picture, own)
        digest = keeping.digest_of(picture)
        exact = found is not None and found.digest == digest
        words = keeping.words_of(picture, self._pixels)
        assert words is not None
        if found is not None and exact and found.difference:
            words = words ^ np.frombuffer(found.difference, words.dtype).reshape(words.shape)
        self.metadata.append(picture.metadata.without("dicom"))
        self.files += [] if own is None else [own]
        self.digests.append(digest)
        self.exact.append(exact)
        self._put(words)

    def _check_file(self, picture: Picture, own: Any) -> None:
        """Check the attributes of a picture against the picture and the first one."""
        uid = "SOPInstanceUID"
        if self.files and value_of(own, uid) != value_of(self.files[0], uid):
            raise ParameterError(
                "dcm: the pictures are of several DICOM files; -O DIR --format dcm writes them"
            )
        rows, columns = picture.samples.shape[:2]
        if (rows, columns) != (own.Rows, own.Columns):
            raise ParameterError(
                f"dcm: the picture is {columns}x{rows}, its DICOM attributes are those of "
                f"{own.Columns}x{own.Rows}; {_STRIP}"
            )
        kind, bits = str(own.get("PhotometricInterpretation")), int(own.BitsStored)
        converted = kind not in (*GRAY, RGB)
        if (kind in GRAY) != (picture.planes == 1) or (not converted and bits != picture.depth):
            raise ParameterError(
                f"dcm: the picture is {picture.kind} of {picture.depth} bits, its DICOM attributes "
                f"are those of {kind} of {bits} bits; {_STRIP}"
            )

    def _put(self, words: np.ndarray) -> None:
        if int(self._pixels.BitsAllocated) > 1:
            self._write(words.tobytes())
            return
        bits = np.concatenate([self._bits, (words & 1).astype(np.uint8).ravel()])
        whole = len(bits) // 8 * 8  # frames may begin within a byte
        self._write(np.packbits(bits[:whole], bitorder="little").tobytes())
        self._bits = bits[whole:]

    def end(self) -> None:
        """Write the last bits, and make the size even."""
        self._write(np.packbits(self._bits, bitorder="little").tobytes())
        self._write(b"\0" * (self.size % 2))

    def _write(self, data: bytes) -> None:
        self.size += len(data)
        self._spool.write(data)


def _pixels_of(picture: Picture, file: Any) -> Any:
    """Return a data set that says how the samples of a picture are stored."""
    found = _data_set()
    if file is None or str(file.PhotometricInterpretation) not in (*GRAY, RGB):
        _set_pixels(found, picture, RGB if picture.planes == 3 else GRAY[1])
        return found
    for keyword in (
        "PhotometricInterpretation", "BitsAllocated", "BitsStored", "PixelRepresentation"
    ):  # fmt: skip
        setattr(found, keyword, file.get(keyword))
    return found


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


def _frames_of(file: Any) -> int:
    return int(file.get("NumberOfFrames") or 1)


def _again(stored: _Stored, origin: Origin) -> Any:
    """Return the data set of the DICOM file that pictures were."""
    file, files = stored.files[0], stored.files
    frames, exact = _frames_of(file), all(stored.exact)
    converted = str(file.PhotometricInterpretation) not in (*GRAY, RGB)
    if converted:
        _set_pixels(file, stored.first, RGB)
        for colour in _COLOURS:
            for name in ("Descriptor", "Data"):
                _drop(file, f"{colour}{_PALETTE}{name}")
    if stored.first.planes == 3:
        file.PlanarConfiguration = 0
    if len(files) > 1 and (groups := keeping.joined_groups(files)):
        setattr(file, PER_FRAME, groups)
    if "NumberOfFrames" in file:
        file.NumberOfFrames = len(files)
    changes = [] if exact else ["compressed by mmpcodec with loss"]
    changes += ["colours converted to RGB"] if converted else []
    if len(files) != frames:
        changes.append(f"{len(files)} of {frames} frames")
        for keyword in ("FrameIncrementPointer", "FrameTime", "FrameTimeVector"):
            _drop(file, keyword)
    if changes:
        _derive(file, stored, changes, origin, lossy=not exact)
    return file


def _derive(
    file: Any, stored: _Stored, changes: Sequence[str], origin: Origin, *, lossy: bool
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
    file.SOPInstanceUID = _uid(old, stored.digest)
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
        appended("LossyImageCompressionRatio", f"{stored.size / origin.coded_bytes:.4g}")
    appended("LossyImageCompressionMethod", _METHOD)


def _derived(before: Any, usual: list[str]) -> list[str]:
    """Return the values of an ImageType of a derived image."""
    values = [before] if isinstance(before, str) else [*(before or usual)]
    return ["DERIVED", *map(str, values[1:])]


def _secondary(stored: _Stored, origin: Origin, facts: Sequence[tuple[int, ...]]) -> Any:
    """Return the data set of a Secondary Capture. Source: PS3.3, A.8."""
    from pydicom.dataset import Dataset

    file, first = Dataset(), stored.first
    series = origin.series or stored.digest
    several = len(stored) > 1
    file.SpecificCharacterSet = "ISO_IR 192"
    file.ImageType = ["DERIVED", "SECONDARY"]
    file.SOPClassUID = _class_of(first) if several else _SECONDARY
    file.SOPInstanceUID = _uid(series, stored.digest, str(origin.number))
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
    lossless = origin.lossless() if callable(origin.lossless) else origin.lossless
    if lossless is False:
        file.LossyImageCompression = "01"
        file.LossyImageCompressionMethod = _METHOD
        if origin.coded_bytes:
            file.LossyImageCompressionRatio = f"{stored.size / origin.coded_bytes:.4g}"
    place = origin.facts
    if several:
        _set_frames(file, stored.metadata, origin.role, facts)
    else:
        if first.planes == 1:
            _set_values(file, file, first.metadata)
        if spacing:
            file.PixelSpacing = [*spacing]
        if origin.role == Role.SLICE and place:
            file.ImagePositionPatient = ["0", "0", _ds(place[0] / _NANOMETRES)]
            file.ImageOrientationPatient = ["1", "0", "0", "0", "1", "0"]
            file.FrameOfReferenceUID = _uid(series, "place")
            file.PositionReferenceIndicator = ""
    return file


def _class_of(picture: Picture) -> str:
    """Return the class of a Secondary Capture of several frames."""
    if picture.planes == 3:
        return _TRUE_COLOUR
    return _GRAY_BYTE if picture.depth <= BYTE else _GRAY_WORD


def _set_frames(
    file: Any, every: Sequence[Metadata], role: Role, facts: Sequence[tuple[int, ...]]
) -> None:
    """Give a data set the elements of several frames, of their metadata and facts."""
    from pydicom.tag import Tag

    file.NumberOfFrames = len(every)
    if role == Role.FRAME and facts:
        times = [Fraction(*each) * 1000 for each in facts]
        if len(set(times)) == 1:
            file.FrameTime, pointer = _ds(float(times[0])), "FrameTime"
        else:
            file.FrameTimeVector = ["0", *(_ds(float(each)) for each in times[:-1])]
            pointer = "FrameTimeVector"
        file.FrameIncrementPointer = Tag(pointer)
    shared, own = _data_set(), [_data_set() for _ in every]
    spacing = _spacing(every[0])
    if spacing and not (role == Role.SLICE and facts):
        # GDCM takes pixel measures of a functional group for those of a volume.
        file.PixelSpacing = [*spacing]
    elif spacing:
        shared.PixelMeasuresSequence = [_data_set(PixelSpacing=[*spacing])]
    if role == Role.SLICE and facts:
        file.FrameOfReferenceUID = _uid(str(file.SeriesInstanceUID), "place")
        file.PositionReferenceIndicator = ""
        turned = _data_set(ImageOrientationPatient=["1", "0", "0", "0", "1", "0"])
        shared.PlaneOrientationSequence = [turned]
        for each, (place,) in zip(own, facts, strict=True):
            corner = ["0", "0", _ds(place / _NANOMETRES)]
            each.PlanePositionSequence = [_data_set(ImagePositionPatient=corner)]
    for each, metadata in zip(own, every, strict=True):
        if metadata.calibration is not None and file.SamplesPerPixel == 1:
            rescale, window = _data_set(), _data_set()
            _set_values(rescale, window, metadata)
            each.PixelValueTransformationSequence = [rescale]
            if len(window):
                each.FrameVOILUTSequence = [window]
    if len(shared) or any(map(len, own)):
        file.SharedFunctionalGroupsSequence = [shared]
        setattr(file, PER_FRAME, own)
    padding = {each.calibration.padding for each in every if each.calibration}
    if len(padding) == 1:
        _set_padding(file, padding.pop())


def _data_set(**elements: Any) -> Any:
    from pydicom.dataset import Dataset

    found = Dataset()
    for keyword, value in elements.items():
        setattr(found, keyword, value)
    return found


def _set_values(rescale: Any, window: Any, metadata: Metadata) -> None:
    """Give data sets the slope, intercept and unit, and the window, of a picture."""
    found = metadata.calibration
    if found is None:
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


def _save(file: Any, target: BinaryIO, stored: _Stored) -> None:
    """Write a data set in explicit VR little endian."""
    from pydicom.dataset import FileMetaDataset
    from pydicom.filewriter import dcmwrite
    from pydicom.uid import ExplicitVRLittleEndian

    meta: Any = FileMetaDataset()
    meta.MediaStorageSOPClassUID = file.get("SOPClassUID") or _SECONDARY
    meta.MediaStorageSOPInstanceUID = file.get("SOPInstanceUID") or _uid(stored.digest)
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.ImplementationClassUID, meta.ImplementationVersionName = _IMPLEMENTATION, "MMPCODEC"
    file.file_meta = meta
    dcmwrite(target, file, implicit_vr=False, little_endian=True, enforce_file_format=True)
