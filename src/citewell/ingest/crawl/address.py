"""Addresses of a site as one spelling each, so that what is checked, asked, counted and stored is the same.

Pure functions. All but `normal` and `resolve` take addresses that `normal` has made.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from citewell.ingest.ignored import IGNORED_FOLDERS

LONGEST = 2_000  # characters of an address
_PORTS = {"http": 80, "https": 443}
_ADDRESS = re.compile(r"(https?)://([^/?]+)([^?]*)(?:\?(.*))?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{0,5}))?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_AROUND = "".join(map(chr, range(33)))  # browsers drop it around an address, and tabs and line ends within one
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_LONGEST_HOST = 253
_LAST_PORT = 65_535
_IN_PATH = r"A-Za-z0-9._~!$&'()*+,;=:@/-"  # RFC 3986: pchar and the slash
_TO_QUOTE = {part: re.compile(rf"%([0-9A-Fa-f]{{2}})?|[^{kept}]") for part, kept in (("path", _IN_PATH), ("query", "?" + _IN_PATH))}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_FILE = re.compile(r"\.(?:x?html?|php|aspx?|jsp|md|markdown|mdx|rst|txt|ipynb|xml|inv)$", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"[%?#\\]")  # unquoted, they would mean something else
# What an ending tells for sure: `flask.json` may be the page of a module, and a page that was fetched in vain costs less than a lost one.
_NO_DOCUMENTS = frozenset(
    ".png .jpg .jpeg .gif .svg .svgz .webp .avif .ico .bmp .tif .tiff .eps .css .scss .js .mjs .cjs .wasm .xml .xsl .xsd .dtd .rss "
    ".atom .webmanifest .csv .parquet .sqlite .zip .gz .tgz .bz2 .tbz .xz .txz .zst .7z .rar .tar .jar .war .whl .egg .deb .rpm "
    ".apk .dmg .msi .exe .iso .dll .dylib .pyc .woff .woff2 .ttf .otf .eot .mp3 .mp4 .m4a .m4v .ogg .oga .ogv .opus .wav .flac "
    ".webm .mov .avi .mkv .swf .asc .sha256 .sha512 .md5 .pth .onnx .safetensors .npy .npz .pkl".split()
)


def normal(url: str) -> str:
    """The one spelling of an http or https address, without its fragment, at most 2,000 characters.

    Scheme and host are in lower case (IDNA), a default port is dropped, dot segments are resolved and doubled slashes joined, what needs
    quoting is quoted and nothing else. Raises `ValueError`, with the reason, for what is no such address.
    """
    url = url.partition("#")[0]
    if len(url) > LONGEST:
        raise ValueError("an address of more than 2,000 characters")
    if _CONTROL.search(url):
        raise ValueError("an address with control characters")
    found = _ADDRESS.fullmatch(url.strip(" ").replace("\\", "/"))
    if found is None:
        raise ValueError("no http or https address")
    scheme, authority, path, query = found.groups()
    address = f"{_origin(scheme.lower(), authority)}{_resolved(_quoted(path, 'path'))}"
    if query:
        address += f"?{_quoted(query, 'query')}"
    if len(address) > LONGEST:
        raise ValueError("an address of more than 2,000 characters")
    return address


@lru_cache(maxsize=1024)  # the links of a site lead to few hosts
def _origin(scheme: str, authority: str) -> str:
    if "@" in authority:
        raise ValueError("an address with a user name or a password")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise ValueError("an address without a proper host and port")
    try:
        host = _host(found.group(1))
    except ValueError as error:
        raise ValueError("an address without a proper host name") from error
    port = int(found.group(2) or _PORTS[scheme])
    if not 0 < port <= _LAST_PORT:
        raise ValueError("an address without a proper port")
    return f"{scheme}://{host}" if port == _PORTS[scheme] else f"{scheme}://{host}:{port}"


def _host(host: str) -> str:
    if host.startswith("["):
        return f"[{ipaddress.IPv6Address(host[1:-1])}]"
    host = (host if host.isascii() else _ascii(host)).lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > _LONGEST_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(host)
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        return str(ipaddress.IPv4Address(host))  # other spellings of IPv4 addresses (octal, one number) serve to deceive only
    return host


def _ascii(host: str) -> str:
    """A host name by IDNA 2008."""
    import httpx2  # a tenth of a second to import, needed for few hosts

    try:
        return httpx2.URL(scheme="http", host=host).raw_host.decode("ascii")
    except httpx2.InvalidURL as error:
        raise ValueError(host) from error


def _quoted(text: str, part: str) -> str:
    """Percent-encoding in its one form: unreserved characters bare, all that needs it encoded as UTF-8, hexadecimals in upper case."""
    return _TO_QUOTE[part].sub(_quote, text)


def _quote(found: re.Match[str]) -> str:
    if found.group(1):
        char = chr(int(found.group(1), 16))
        return char if char in _UNRESERVED else found.group().upper()
    return "".join(f"%{byte:02X}" for byte in found.group().encode())


def _resolved(path: str) -> str:
    """A path from the root without empty, `.` and `..` segments (which a wrongly joined link has); none leads above the root."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    folder = "/" if kept and segments[-1] in ("", ".", "..") else ""
    return f"/{'/'.join(kept)}{folder}"


def resolve(base: str, href: str) -> str | None:
    """The address that a link of the page `base` leads to, as a browser sees it; None where that is no http or https address."""
    href = href.partition("#")[0]
    if len(href) > LONGEST:
        return None
    href = re.sub(r"[\t\n\r]", "", href.strip(_AROUND)).replace("\\", "/")
    try:
        return normal(href if _SCHEME.match(href) else _joined(urlsplit(base), href))
    except ValueError:
        return None


def _joined(base: SplitResult, href: str) -> str:
    """A relative reference made absolute (RFC 3986, section 5.3); its dot segments stay."""
    if href.startswith("//"):
        return f"{base.scheme}:{href}"
    if not href:
        return base.geturl()
    if not href.startswith("/"):
        href = f"{base.path}{href}" if href.startswith("?") else f"{base.path.rpartition('/')[0]}/{href}"
    return f"{base.scheme}://{base.netloc}{href}"


def base_of(url: str) -> str:
    """The address below which the site lies that an address opens: its own folder where it names a file, else itself as a folder."""
    parts = urlsplit(url)
    folder, _, last = parts.path.rpartition("/")
    path = f"{folder}/" if not last or _FILE.search(last) else f"{parts.path}/"
    return f"{parts.scheme}://{parts.netloc}{path}"


def as_folder(url: str) -> str:
    """The address of a folder for that of its `index.html`; any other as it is."""
    return url.removesuffix("index.html") if url.endswith("/index.html") else url


def folder_of(base: str) -> str:
    """The path of the folder that an address is in, with its final slash."""
    return urlsplit(base).path.rpartition("/")[0] + "/"


def _place(parts: SplitResult) -> tuple[str, str]:
    """Scheme and host of an address; http and https of a host are one place where both have their default ports."""
    return ("" if parts.port is None else parts.scheme, parts.netloc)


def within(url: str, base: str) -> bool:
    """Whether an address is on the host of a base address and is the folder of its path, with or without the slash, or below it."""
    parts, root = urlsplit(url), urlsplit(base)
    return _place(parts) == _place(root) and f"{parts.path}/".startswith(folder_of(base))


def path_of(url: str, base: str) -> str:
    """The document's path relative to the base's folder, `index.html` added to a folder's. But for a folder and its `index.html`, the
    base's folder with and without its slash, and http and https, no two addresses share one.

    It is readable where that is safe: unquoted only if quoting it again gives the same address. A query stays, as `?a=b`.
    Raises `ValueError` for an address that is not within the base.
    """
    if not within(url, base):
        raise ValueError(f"{url} is not within {base}")
    parts = urlsplit(url)
    quoted = f"{parts.path}/".removeprefix(folder_of(base))[:-1]
    path = unquote(quoted)
    if _AMBIGUOUS.search(path) or not path.isprintable() or _quoted(path, "path") != quoted:
        path = quoted
    if not path or path.endswith("/"):
        path += "index.html"
    return f"{path}?{parts.query}" if parts.query else path


def is_document(url: str) -> bool:
    """Whether an address may lead to a document: not to a picture, a script, an archive or into a folder of such."""
    *folders, name = urlsplit(url).path.split("/")
    return PurePosixPath(name).suffix.lower() not in _NO_DOCUMENTS and IGNORED_FOLDERS.isdisjoint(folders)
