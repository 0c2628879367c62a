"""Tables of categories: what users bring, as integer codes."""
