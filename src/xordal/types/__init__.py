"""The values every module speaks in, one idea a module: frozen, and without knowledge of data or graphs."""
