"""Names, paths and addresses that models write of their own accord: they tell of nobody."""

from __future__ import annotations

import ipaddress
import re

USERS = frozenset(
    [
        "user",
        "username",
        "youruser",
        "yourname",
        "yourusername",
        "your",
        "your-user",
        "your-username",
        "your_username",
        "your_user",
        "you",
        "me",
        "myuser",
        "name",
        "ubuntu",
        "debian",
        "centos",
        "fedora",
        "ec2-user",
        "admin",
        "administrator",
        "root",
        "vagrant",
        "pi",
        "app",
        "appuser",
        "node",
        "jovyan",
        "runner",
        "git",
        "www-data",
        "deploy",
        "deployer",
        "dev",
        "developer",
        "devuser",
        "example",
        "alice",
        "bob",
        "carol",
        "dave",
        "eve",
        "john",
        "jane",
        "jdoe",
        "johndoe",
        "jane.doe",
        "foo",
        "bar",
        "test",
        "tester",
        "testuser",
        "guest",
        "default",
        "public",
        "shared",
        "someone",
        "somebody",
        "student",
        "postgres",
        "mysql",
        "oracle",
        "jenkins",
        "gitlab-runner",
        "circleci",
        "travis",
        "codespace",
        "vscode",
        "coder",
        "linuxbrew",
        "airflow",
        "hadoop",
        "spark",
        "nobody",
        "service",
        "sysadmin",
        "u",
        "xxx",
        "usuario",
        "utilisateur",
        "nom",
        "benutzer",
        "benutzername",
        "name_des_benutzers",
        "user1",
        "user2",
        "client",
        "build",
        "builder",
        "docker",
        "steam",
        "peter",
        "mary",
        "joe",
        "fred",
        "max",
        "mustermann",
        "max.mustermann",
        "erika",
        "juser",
    ]
)
_PLACEHOLDER = re.compile(r"[<{$%\[*]|^\.+$|^x+$|your|example|placeholder", re.IGNORECASE)

SECOND_LEVEL = frozenset(
    [
        "log",
        "lib",
        "cache",
        "www",
        "run",
        "spool",
        "tmp",
        "db",
        "opt",
        "lock",
        "mail",
        "local",
        "backups",
        "html",
        "homebrew",
        "conda",
        "miniconda3",
        "anaconda3",
        "venv",
        "google",
        "containerd",
        "ros",
        "nvidia",
        "intel",
        "cuda",
        "bitnami",
        "jboss",
        "tomcat",
        "kafka",
        "data",
        "disk",
        "disk1",
        "drive",
        "c",
        "d",
        "usb",
        "cdrom",
        "nfs",
        "ftp",
        "http",
        "git",
        "app",
        "myapp",
        "my-app",
        "my_app",
        "my-project",
        "project",
        "src",
        "example",
        "test",
        "bin",
        "etc",
        "folder",
        "path",
        "share",
        "docker",
        "jenkins",
        "volume",
        "backup",
        "output",
        "input",
        "models",
        "datasets",
        "dataset",
        "images",
        "raw",
        "processed",
        "train",
    ]
)
"""What stands under /var, /opt, /mnt, /data and the like wherever a page is written about them."""

HOSTS = (
    "localhost",
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "python.org",
    "pypi.org",
    "wikipedia.org",
    "google.com",
    "googleapis.com",
    "microsoft.com",
    "mozilla.org",
    "stackoverflow.com",
    "w3.org",
    "ietf.org",
    "apache.org",
    "gnu.org",
    "kernel.org",
    "debian.org",
    "ubuntu.com",
    "nodejs.org",
    "npmjs.com",
    "npmjs.org",
    "docker.com",
    "docker.io",
    "openai.com",
    "anthropic.com",
    "huggingface.co",
    "amazonaws.com",
    "aws.amazon.com",
    "readthedocs.io",
    "readthedocs.org",
    "arxiv.org",
    "doi.org",
    "schema.org",
    "json-schema.org",
    "opensource.org",
    "creativecommons.org",
    "kubernetes.io",
    "cloudflare.com",
    "gmail.com",
    "youtube.com",
    "company.com",
    "mycompany.com",
    "domain.com",
    "acme.com",
    "email.com",
    "site.com",
    "website.com",
)
_RESERVED_ENDS = (".example", ".test", ".invalid", ".localhost", "example.com", "example.org", "example.net")
"""RFC 2606 and RFC 6761."""


def is_stock_user(name: str) -> bool:
    """Whether it is a name for anybody."""
    name = name.lower()
    return name in USERS or len(name) == 1 or bool(_PLACEHOLDER.search(name))


def is_stock_host(host: str) -> bool:
    """Whether a model knows it without being told."""
    host = host.lower().rstrip(".")
    if _PLACEHOLDER.search(host) or host.endswith(_RESERVED_ENDS):
        return True
    return any(host == known or host.endswith(f".{known}") for known in HOSTS)


def is_stock_address(text: str) -> bool:
    """Whether an IP address stands in every tutorial: loopback, documentation, the first ones of a private network."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return True
    if address.is_loopback or address.is_unspecified or address.is_multicast or address.is_link_local:
        return True
    if address.version == 6:  # noqa: PLR2004 — the two versions that there are
        return address in ipaddress.ip_network("2001:db8::/32")
    return text in _KNOWN or any(address in network for network in _OF_TUTORIALS)


_KNOWN = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "255.255.255.255", "1.2.3.4"})
_OF_TUTORIALS = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.2.0/24",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "192.168.0.0/23",
            "10.0.0.0/22",
            "172.17.0.0/24",
            "255.0.0.0/8",
            "0.0.0.0/8",
        ),
    )
)
