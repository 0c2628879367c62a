"""Reports: a plain summary first, then drawings as SVG strings, then one self-contained HTML page."""
