import AsyncHTTPClient
import Configuration
import Crypto
import Hummingbird
import NIOPosix
