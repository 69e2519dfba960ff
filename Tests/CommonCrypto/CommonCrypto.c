#include "CommonCrypto.h"

#include <openssl/evp.h>

unsigned char *CC_SHA256(const void *data, CC_LONG length, unsigned char *digest) {
    return EVP_Digest(data, length, digest, NULL, EVP_sha256(), NULL) == 1 ? digest : NULL;
}

CCCryptorStatus CCCrypt(
    CCOperation operation, CCAlgorithm algorithm, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved) {
    if (operation != kCCEncrypt || algorithm != kCCAlgorithmAES || options != kCCOptionPKCS7Padding || keyLength != 32)
        return kCCParamError;
    if (dataOutAvailable < (dataInLength / kCCBlockSizeAES128 + 1) * kCCBlockSizeAES128) return kCCBufferTooSmall;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0, rest = 0;
    int isDone = context && EVP_EncryptInit_ex2(context, EVP_aes_256_cbc(), key, iv, NULL) == 1
        && EVP_EncryptUpdate(context, dataOut, &written, dataIn, (int)dataInLength) == 1
        && EVP_EncryptFinal_ex(context, (unsigned char *)dataOut + written, &rest) == 1;
    EVP_CIPHER_CTX_free(context);
    *dataOutMoved = (size_t)(written + rest);
    return isDone ? kCCSuccess : kCCParamError;
}
