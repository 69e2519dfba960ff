"""Serves moto's S3 on a free port, and says `listening on <port> <key id> <secret>` on standard error.

moto checks signatures in the header form alone, and those only for users of its own IAM: one with all rights is made
here. It does not know presigned URLs when it checks (moto 5.2.5, `moto/iam/access_control.py`, `IAMRequestBase` reads
nothing but the `Authorization` header). So those are checked here, and go on to moto signed in the header form.
"""

import datetime
import hmac
import json
import sys
import urllib.parse

import botocore.auth
import moto.settings
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core import DEFAULT_ACCOUNT_ID
from moto.iam.models import iam_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

TIMESTAMP = "%Y%m%dT%H%M%SZ"


def make_user():
    iam = iam_backends[DEFAULT_ACCOUNT_ID]["aws"]
    iam.create_user("us-east-1", "tester")
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy("tester", "all", policy)
    key = iam.create_access_key("tester", prefix="AKIA")
    return Credentials(key.access_key_id, key.secret_access_key)


class PresignedURLs:
    """Turns a presigned request that is right into one signed by header, and refuses one that is wrong."""

    def __init__(self, application, credentials):
        self.application = application
        self.credentials = credentials

    def __call__(self, environ, start_response):
        if "HTTP_AUTHORIZATION" in environ:
            return self.application(environ, start_response)
        region = self.signing_region(environ)
        if region is None:
            body = b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
            start_response("403 Forbidden", headers)
            return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]
        # What the signature said stays in moto's sight no longer: it would take it for S3's own parameters.
        path, _, query = environ["RAW_URI"].partition("?")
        kept = "&".join(pair for pair in query.split("&") if not pair.startswith("X-Amz-"))
        environ["RAW_URI"] = f"{path}?{kept}" if kept else path
        environ["QUERY_STRING"] = kept
        request = AWSRequest(environ["REQUEST_METHOD"], self.url(environ))
        botocore.auth.S3SigV4Auth(self.credentials, "s3", region).add_auth(request)
        for name in ["Authorization", "X-Amz-Date", "X-Amz-Content-SHA256"]:
            environ["HTTP_" + name.upper().replace("-", "_")] = request.headers[name]
        return self.application(environ, start_response)

    def signing_region(self, environ):
        """The region that a right and living signature names, or None."""
        url, _, signature = self.url(environ).partition("&X-Amz-Signature=")
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        try:
            key_id, day, region, service, _ = query["X-Amz-Credential"].split("/")
            start = datetime.datetime.strptime(query["X-Amz-Date"], TIMESTAMP)
            seconds = int(query["X-Amz-Expires"])
        except (KeyError, ValueError):
            return None
        age = (datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) - start).total_seconds()
        names = query.get("X-Amz-SignedHeaders", "").split(";")
        headers = {name: environ.get("HTTP_" + name.upper().replace("-", "_"), "") for name in names}
        request = AWSRequest(environ["REQUEST_METHOD"], url, headers=headers)
        request.context["timestamp"] = query["X-Amz-Date"]
        auth = botocore.auth.S3SigV4QueryAuth(self.credentials, service, region)
        expected = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
        is_ours = key_id == self.credentials.access_key and day == query["X-Amz-Date"][:8] and service == "s3"
        is_right = hmac.compare_digest(signature.encode(), expected.encode())
        return region if is_ours and is_right and -900 <= age < seconds else None

    @staticmethod
    def url(environ):
        return f"http://{environ['HTTP_HOST']}{environ['RAW_URI']}"


credentials = make_user()
# From the first request on.
moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
application = PresignedURLs(DomainDispatcherApplication(create_backend_app), credentials)
server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
print("listening on", server.port, credentials.access_key, credentials.secret_key, file=sys.stderr, flush=True)
server.serve_forever()
