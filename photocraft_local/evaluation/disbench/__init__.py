"""DISBench (arXiv 2602.10809): its layout, tracks, presets of published systems, submission."""
