"""Signs S3 requests as botocore does: a case per line of JSON comes in, its steps as a line of JSON go out.

Where botocore is known to differ from AWS's own pages, the comment says how, and this script undoes the difference.
"""

import datetime
import functools
import json
import sys

import botocore.auth
import botocore.session
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.httpsession import URLLib3Session
from botocore.utils import percent_encode_sequence
from urllib3.util.url import _encode_target

session = botocore.session.Session()
wire = URLLib3Session()


@functools.cache
def client(endpoint, style):
    # The region has no part in the URL of an endpoint that is given; a client for each would take long.
    config = Config(signature_version="s3v4", s3={"addressing_style": style})
    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
    return session.create_client("s3", region_name="us-east-1", endpoint_url=endpoint, config=config, **keys)


def url(case):
    """The URL without a query, from a whole client: its endpoint rules, its serializer, its handlers."""
    style = "path" if case["usesPathStyle"] else "virtual"
    operation, parameters = "list_objects_v2", {"Bucket": case["bucket"]}
    if "key" in case:
        operation, parameters = "get_object", parameters | {"Key": case["key"]}
    presigned = client(case["endpoint"], style).generate_presigned_url(operation, parameters)
    return presigned.partition("?")[0]


class Recorder:
    """Keeps the steps of a signer."""

    def canonical_request(self, request):
        self.canonical = super().canonical_request(request)
        return self.canonical

    def string_to_sign(self, request, canonical_request):
        self.string = super().string_to_sign(request, canonical_request)
        return self.string

    def signature(self, string_to_sign, request):
        self.signed = super().signature(string_to_sign, request)
        return self.signed


class HeaderAuth(Recorder, botocore.auth.S3SigV4Auth):
    pass


class QueryAuth(Recorder, botocore.auth.S3SigV4QueryAuth):
    def _modify_request_before_signing(self, request):
        # botocore keeps the caller's items in a dict, "we know we won't have repeated keys" (botocore/auth.py), and
        # so loses all but one of those with the same name. AWS's page "Authenticating Requests: Using Query
        # Parameters" knows no such rule; it has "the values sorted" as well as the names.
        items, request.params = request.params, {}
        super()._modify_request_before_signing(request)
        if items:
            base, _, query = request.url.partition("?")
            request.url = f"{base}?{percent_encode_sequence(items)}&{query}"


def as_signed(target):
    """Spells the query of a request target as it was signed."""
    path, _, query = target.partition("?")
    if not query:
        return path
    query, separator, signature = query.partition("&X-Amz-Signature=")
    # In the header form, botocore sends a form's spelling (`urlencode` in botocore/awsrequest.py), where a space is
    # `+`, and signs `%20`, as AWS wants it ("Signature Calculations for the Authorization Header": "The space
    # character is a reserved character and must be encoded as "%20" (and not as "+")"). A plus sign itself is `%2B`.
    query = query.replace("+", "%20")
    # It sends the items in the caller's order and signs them sorted; S3 sorts them itself.
    pairs = sorted(tuple(pair.split("=", 1)) for pair in query.split("&"))
    return f"{path}?" + "&".join("=".join(pair) for pair in pairs) + separator + signature


def sign(case):
    now = datetime.datetime.fromtimestamp(case["timestamp"], datetime.timezone.utc).replace(tzinfo=None)
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now
    credentials = Credentials(case["accessKeyID"], case["secretAccessKey"], case.get("sessionToken"))
    body = case["body"].encode()
    items = [tuple(item) for item in case["query"]]
    request = AWSRequest(case["method"], url(case), data=body, params=items)
    for name, value in case["headers"]:
        request.headers[name] = value
    if "expires" in case:
        auth = QueryAuth(credentials, "s3", case["region"], expires=case["expires"])
    else:
        auth = HeaderAuth(credentials, "s3", case["region"])
    auth.add_auth(request)
    prepared = request.prepare()
    # urllib3 names the host that botocore has signed.
    host = botocore.auth._host_from_url(prepared.url)
    target = _encode_target(wire._get_request_target(prepared.url, None))
    authorization = request.headers.get("Authorization")
    return {
        "canonicalRequest": auth.canonical,
        "stringToSign": auth.string,
        "signature": auth.signed,
        # botocore puts a space after each comma. AWS's examples have none: "Signature Calculations for the
        # Authorization Header: Transferring Payload in a Single Chunk".
        "authorization": authorization and authorization.replace(", ", ","),
        "url": f"{prepared.url.partition('://')[0]}://{host}{as_signed(target)}",
    }


for line in sys.stdin:
    print(json.dumps(sign(json.loads(line))))
