// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported import Glibc

public let F_FULLFSYNC: Int32 = 51
