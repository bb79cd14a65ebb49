"""A scheduler of dask with certificates of its user: ``tls://HOST:PORT``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dumbbell
from cluster_runs import check_same_bytes, started
from dumbbell import BackendError, Scenario
from dumbbell.cluster import dask_pool
from required import require_packages


def credentials(file: Path) -> str:
    """Write a private key and its certificate to a file; returns its path."""
    require_packages("distributed")
    from distributed.security import Security

    made = Security.temporary()
    file.write_text(made.tls_client_key + made.tls_client_cert)
    return str(file)


def configuration(file: str | None) -> dict[str, str | None]:
    return {f"distributed.comm.tls.{key}": file for key in ("ca-file", "client.cert")}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Start a scheduler and workers with certificates: its address, and the file of credentials."""
    file = credentials(tmp_path_factory.mktemp("tls") / "credentials.pem")
    keys = ("CA_FILE", "SCHEDULER__CERT", "WORKER__CERT", "CLIENT__CERT")
    environment = {f"DASK_DISTRIBUTED__COMM__TLS__{key}": file for key in keys}
    with started(**environment, DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION="True") as (address, _, _):
        yield address, file


def test_a_client_with_the_certificates_makes_the_same_bytes(
    cluster_scenario: Scenario, cluster: tuple[str, str], tmp_path: Path
) -> None:
    import dask

    assert cluster[0].startswith("tls://")
    with dask.config.set(configuration(cluster[1])):
        check_same_bytes(cluster_scenario, tmp_path, cluster[0])


def test_other_clients_are_refused_with_one_line(
    cluster_scenario: Scenario, cluster: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    monkeypatch.setattr(dask_pool, "CONNECT_S", 2)
    other = credentials(tmp_path / "other.pem")
    plain = cluster[0].replace("tls://", "dask://")
    for address, shown in ((cluster[0], cluster[0]), (plain, plain.replace("dask://", "tcp://"))):
        with (
            dask.config.set(configuration(other)),
            pytest.raises(BackendError, match=rf"^--cluster: {re.escape(shown)}: [^\n]+$"),
        ):
            dumbbell.run(cluster_scenario, cluster=address)


@pytest.mark.parametrize(("file", "given"), [(None, "not set"), ("/no/such.pem", "/no/such.pem")])
def test_missing_certificates_are_an_error_of_one_line(
    cluster_scenario: Scenario, file: str | None, given: str
) -> None:
    require_packages("distributed")
    import dask

    line = (
        f"--cluster: distributed.comm.tls.ca-file is {given}: tls:// needs a file of certificates there: set it in "
        "~/.config/dask/distributed.yaml"
    )
    with dask.config.set(configuration(file)), pytest.raises(BackendError, match=f"^{re.escape(line)}$"):
        dumbbell.run(cluster_scenario, cluster="tls://127.0.0.1:1")


def test_a_configuration_that_requires_encryption_refuses_a_plain_connection(cluster_scenario: Scenario) -> None:
    require_packages("distributed")
    import dask

    line = "--cluster: ~/.config/dask/distributed.yaml requires encryption, which dask:// doesn't have: use tls://"
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(BackendError, match=f"^{re.escape(line)}$"),
    ):
        dumbbell.run(cluster_scenario, cluster="dask://127.0.0.1:1")
