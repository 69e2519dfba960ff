/* What a page of the documents calls of Apple's library, by Apple's declarations (CommonDigest.h, CommonCryptor.h).
   On Linux it is made of libcrypto, so that a test can run the page's code as it is. */
#include <stddef.h>
#include <stdint.h>

#define CC_SHA256_DIGEST_LENGTH 32

typedef uint32_t CC_LONG;
typedef uint32_t CCOperation;
typedef uint32_t CCAlgorithm;
typedef uint32_t CCOptions;
typedef int32_t CCCryptorStatus;

enum { kCCEncrypt = 0, kCCDecrypt };
enum { kCCAlgorithmAES128 = 0, kCCAlgorithmAES = 0 };
enum { kCCOptionPKCS7Padding = 1 };
enum { kCCBlockSizeAES128 = 16 };
enum { kCCSuccess = 0, kCCParamError = -4300, kCCBufferTooSmall = -4301 };

unsigned char *CC_SHA256(const void *data, CC_LONG length, unsigned char *digest);

CCCryptorStatus CCCrypt(
    CCOperation operation, CCAlgorithm algorithm, CCOptions options, const void *key, size_t keyLength, const void *iv,
    const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable, size_t *dataOutMoved);
