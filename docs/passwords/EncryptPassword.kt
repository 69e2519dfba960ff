import java.security.MessageDigest
import java.util.Base64
import javax.crypto.Cipher
import javax.crypto.spec.IvParameterSpec
import javax.crypto.spec.SecretKeySpec

fun encryptPassword(password: String, apiPassword: String): String {
    val key = MessageDigest.getInstance("SHA-256").digest(apiPassword.toByteArray())
    val cipher = Cipher.getInstance("AES/CBC/PKCS5Padding")
    cipher.init(Cipher.ENCRYPT_MODE, SecretKeySpec(key, "AES"), IvParameterSpec(ByteArray(16)))
    return Base64.getEncoder().encodeToString(cipher.doFinal(password.toByteArray()))
}
