"""Every rule, listed by hand: reading this is reading the catalogue. A rule's text stands in its own file."""

from __future__ import annotations

from kvfence.audit.rule import Rule
from kvfence.audit.rules import (
    affected_version,
    asymmetric_pools,
    auto_truncate_on,
    check_cannot_run,
    check_failed,
    check_not_running,
    check_on_one_side,
    checks_off,
    client_set_transfer_fields,
    deferred_release_timeout,
    different_limits,
    expired_blocks_read,
    fix_absent,
    headroom_below_factor,
    layouts_differ,
    pool_below_context,
    pool_changed_between_starts,
    refused_prompts_seen,
    replicas_differ,
    sources_disagree,
    unequal_settings,
    worker_reachable,
)

RULES: tuple[Rule, ...] = (
    Rule.of(pool_below_context),
    Rule.of(asymmetric_pools),
    Rule.of(different_limits),
    Rule.of(headroom_below_factor),
    Rule.of(auto_truncate_on),
    Rule.of(affected_version),
    Rule.of(refused_prompts_seen),
    Rule.of(checks_off),
    Rule.of(check_not_running),
    Rule.of(check_on_one_side),
    Rule.of(check_cannot_run),
    Rule.of(check_failed),
    Rule.of(expired_blocks_read),
    Rule.of(deferred_release_timeout),
    Rule.of(pool_changed_between_starts),
    Rule.of(sources_disagree),
    Rule.of(worker_reachable),
    Rule.of(client_set_transfer_fields),
    Rule.of(unequal_settings),
    Rule.of(fix_absent),
    Rule.of(replicas_differ),
    Rule.of(layouts_differ),
)
