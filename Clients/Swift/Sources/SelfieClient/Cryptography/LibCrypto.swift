#if !canImport(CommonCrypto)
    import CSelfieCrypto

    /// OpenSSL's library, which libcurl uses, too.
    enum LibCrypto {
        /// Whether it can be used until the process is gone; to be asked before libcurl begins to use it.
        ///
        /// By itself, it cleans up when a program calls `exit`, while other threads may still be working with it.
        static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
    }
#endif
