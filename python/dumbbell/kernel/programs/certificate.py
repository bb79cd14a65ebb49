"""A certificate for a server in a run's namespace."""

from __future__ import annotations

import base64
import datetime

__all__ = ["NAME", "fingerprint", "make_certificate"]

NAME = "server.test"
"""The name of the server."""


def make_certificate() -> tuple[bytes, bytes]:
    """Return a self-signed P-256 certificate and its private key (PEM), valid for a week."""
    from cryptography import x509  # of the extra `web`
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1))
    builder = builder.not_valid_after(now + datetime.timedelta(days=7))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return builder.sign(key, hashes.SHA256()).public_bytes(encoding), private


def fingerprint(certificate: bytes) -> str:
    """Return the digest of a certificate's public key, as Chromium names it (SHA-256, base64) [RFC 7469 §2.4]."""
    from cryptography import x509  # of the extra `web`
    from cryptography.hazmat.primitives import hashes, serialization

    key = x509.load_pem_x509_certificate(certificate).public_key()
    digest = hashes.Hash(hashes.SHA256())
    digest.update(key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
    return base64.b64encode(digest.finalize()).decode("ascii")
