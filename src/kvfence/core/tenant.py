"""Who may share with whom (I6). Prefix reuse never crosses a tenant, unless the operator named a prefix public."""

from __future__ import annotations

from kvfence.core.ids import TenantId

PUBLIC = TenantId("")
"""The owner of pages that an operator declared public; no client can have this name, for it is empty."""


SEVERAL = TenantId("\0several")
"""Whose text may lie in a page that was given back before it was sealed: its holder's, or an earlier one's still."""


def may_be_a_client(tenant: TenantId) -> bool:
    """Whether a request can come from `tenant`: not from a name that stands for all or for several."""
    return tenant not in (PUBLIC, SEVERAL)


def may_share(*, owner: TenantId, reader: TenantId) -> bool:
    """Whether a page that `owner` filled may stand in a page table of `reader`."""
    return owner in (reader, PUBLIC)
