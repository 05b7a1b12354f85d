"""Read picture files whose samples other codecs have compressed.

GIF, WebP, AVIF, JPEG and JPEG 2000 are decoded by Pillow, HEIC by pillow-heif, JPEG XL and deep
samples of AVIF and JPEG 2000 by imagecodecs. ``frame_size``, ``boxes`` and ``jpegxl_header`` find
the sizes before anything is decoded, ``shown`` converts what Pillow returns.
"""
