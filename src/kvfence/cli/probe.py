"""`kvfence probe`: options in, one plan down, a report out."""

from __future__ import annotations

from time import monotonic

import typer

from kvfence.cli import probe_options as opt
from kvfence.cli.output import check_writable
from kvfence.cli.probe_limits import limits_from, prices_from
from kvfence.cli.probe_one import OneEndpoint, needed_url
from kvfence.cli.probe_output import check_format, write_plan
from kvfence.cli.probe_providers import ProvidersFile, TenantsFile, Wanted, check_alone, compare_providers
from kvfence.cli.probe_run import carry_out
from kvfence.cli.probe_scenarios import Scenarios
from kvfence.probe import Bounds
from kvfence.probe.chosen import scenarios_of
from kvfence.probe.drive import NO_JOURNAL
from kvfence.probe.facts_file import read_facts
from kvfence.probe.foresight import foresee
from kvfence.probe.journal import Journal, seed_of
from kvfence.probe.limits import Limits
from kvfence.probe.prompts import DEPTHS
from kvfence.probe.providers.comparing import ForEach
from kvfence.probe.registry.planted import NO_REGISTRY
from kvfence.probe.registry.registry_file import RegistryFile
from kvfence.probe.tokenizer_file import tokenizer_of
from kvfence.report.probe_formats import ProbeFormat


def probe(
    given: typer.Context,
    url: opt.Url = None,
    *,
    providers: ProvidersFile = None,
    tenants: TenantsFile = None,
    model: opt.Model = None,
    context: opt.Context = None,
    limit: opt.LimitsKnown = None,
    lengths: opt.Lengths = None,
    scenario: Scenarios = None,
    repeats: opt.Repeats = 1,
    facts: opt.FactsFile = None,
    multiple_of: opt.MultipleOf = None,
    bisections: opt.Bisections = 6,
    api_key_env: opt.ApiKeyEnv = None,
    depths: opt.Depths = DEPTHS,
    tokenizer: opt.TokenizerFile = None,
    completions: opt.Completions = False,
    max_requests: opt.MaxRequests = 256,
    budget_tokens: opt.BudgetTokens = None,
    budget_usd: opt.BudgetUsd = None,
    max_rps: opt.MaxRps = None,
    concurrency: opt.Concurrency = 8,
    price_in: opt.PriceIn = None,
    price_out: opt.PriceOut = None,
    prices: opt.PriceFile = None,
    timeout: opt.Timeout = 600.0,
    seed: opt.Seed = None,
    journal: opt.JournalFile = None,
    registry: opt.RegistryOfMarkers = None,
    output_format: opt.OutputFormat = ProbeFormat.TABLE,
    output: opt.Output = None,
    exit_zero: opt.ExitZero = False,
    dry_run: opt.DryRun = False,
    quiet: opt.Quiet = False,
) -> None:
    """Does this endpoint answer with my text, and only mine, at every length that it claims?

    With --providers in place of a URL: the same campaign over several vendors of one model, compared in one table.
    Exit codes: 0 clean, 1 found, 2 wrong use or not to be reached, 3 inconclusive. Ctrl-C waits for the answers that
    are paid for, says what is known by then and how to go on; once more gives them up.

    Example: kvfence probe http://127.0.0.1:8000/v1 --limit 681280
    """
    began = monotonic()
    check_format(output_format, dry_run=dry_run)
    check_writable(output)
    known = read_facts(facts) if facts else None
    bounds = Bounds(repeats=repeats, bisections=bisections, requests_max=max_requests, concurrency=concurrency)
    bounds = opt.with_lengths(bounds, known, limit, lengths, multiple_of)
    each = ForEach(
        bounds=bounds,
        depths=depths,
        scenarios=scenarios_of(scenario or (), bounds, option="--scenario"),
        counter=tokenizer_of(tokenizer) if tokenizer else None,
        requests_per_s=max_rps,
        timeout_s=timeout,
        registry=given.with_resource(RegistryFile(registry)) if registry and not dry_run else NO_REGISTRY,
    )
    wanted = Wanted(form=output_format, output=output, began=began, exit_zero=exit_zero, only_plan=dry_run, quiet=quiet)
    if providers is not None:
        check_alone(given)
        limits = Limits(tokens=budget_tokens, usd=budget_usd)
        raise typer.Exit(compare_providers(providers, each, wanted, limits=limits, seed=seed, folder=journal))
    rates = prices_from(price_in, price_out, file=prices, model=model)
    limits = limits_from(tokens=budget_tokens, usd=budget_usd, per_second=max_rps, prices=rates)
    context = context or (known.declared_context if known else None)
    one = OneEndpoint(url=needed_url(url), model=model, context=context, completions=completions, limits=limits)
    book = Journal(journal) if journal and not (dry_run and not journal.exists()) else NO_JOURNAL
    options = one.options(each, opt.keys_from(api_key_env or []), tenants, seed=seed_of(seed, book))
    if dry_run:
        write_plan(foresee(options), output_format, output)
        return
    raise typer.Exit(carry_out(options, book, wanted, url=one.url))
