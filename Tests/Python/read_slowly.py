"""Downloads a URL to a file, 64 KiB at a time, and prints how many bytes came.

The arguments are the URL, a token and the file. It fails when the answer is not 200, or ends too early.
"""
import http.client
import sys
import urllib.parse

url, token, path = sys.argv[1:]
parts = urllib.parse.urlsplit(url)
connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
connection.request("GET", parts.path, headers={"Authorization": f"Token token={token}"})
response = connection.getresponse()
assert response.status == 200, response.status
count = 0
with open(path, "wb") as file:
    while data := response.read(64 * 1024):
        file.write(data)
        count += len(data)
print(count)
