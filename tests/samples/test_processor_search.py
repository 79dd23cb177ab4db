import pytest
import stripe


def test_search_finds_by_metadata_only_after_its_lag(processor, stripe_api, pay):
    intent = pay(metadata={"effect": "e-1"})
    pay(metadata={"effect": "e-2"})
    query = {"query": "metadata['effect']:'e-1'"}
    assert stripe_api.payment_intents.search(query).data == []

    processor.turn_clock(seconds=60)

    assert [one.id for one in stripe_api.payment_intents.search(query).data] == [intent.id]


def test_search_shows_an_object_as_it_was(processor, stripe_api, pay):
    intent = pay()
    processor.turn_clock(seconds=60)
    stripe_api.refunds.create({"payment_intent": intent.id})
    query = {"query": f"payment_intent:'{intent.id}'"}

    assert stripe_api.charges.search(query).data[0].refunded is False
    processor.turn_clock(seconds=60)
    assert stripe_api.charges.search(query).data[0].refunded is True


def test_an_outage_makes_search_an_hour_late(processor, stripe_api, pay):
    processor.pull("search", {"seconds": 3600})
    pay()
    processor.turn_clock(seconds=3599)
    query = {"query": "status:'succeeded' AND amount>1999"}
    assert stripe_api.charges.search(query).data == []

    processor.turn_clock(seconds=1)

    assert len(stripe_api.charges.search(query).data) == 1


def test_search_pages_by_a_token(processor, stripe_api, pay):
    made = [pay(amount=1000 + number).id for number in range(3)]
    processor.turn_clock(seconds=60)

    page = stripe_api.payment_intents.search({"query": "currency:'usd'", "limit": 2})

    assert page.has_more is True
    assert [one.id for one in page.auto_paging_iter()] == made[::-1]


def test_a_query_that_cannot_be_read_is_refused(stripe_api):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.charges.search({"query": "amount is large"})

    assert refused.value.param == "query"
