"""Read pages of PDF files: ``file`` by pdfium, ``masks`` the alpha of their images by pikepdf."""
