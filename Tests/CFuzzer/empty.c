// The module is a header alone.
