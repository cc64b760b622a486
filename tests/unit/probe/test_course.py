"""What is foreseen of a running campaign spends nothing of it."""

from kvfence.probe.limits import Cost, Limits, Purse, Till


def test_a_purse_apart_spends_nothing_of_a_till():
    """A plan is played with it, again and again."""
    till = Till(tokens_max=1000)
    purse = Purse(Limits(), till.share("one"))
    purse.set_aside(Cost(100, 10))
    tried = purse.apart()
    tried.set_aside(Cost(5000, 10))
    assert (till.tokens, purse.spent.prompt_tokens) == (110, 100)
    assert tried.spent.prompt_tokens == 5100
