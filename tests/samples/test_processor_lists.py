import pytest
import stripe


def test_pages_run_newest_first_and_meet_every_object_once(stripe_api, pay):
    made = [pay(amount=1000 + number).id for number in range(7)]

    page = stripe_api.payment_intents.list({"limit": 3})

    assert [intent.id for intent in page.data] == made[:-4:-1]
    assert page.has_more is True
    assert [intent.id for intent in page.auto_paging_iter()] == made[::-1]


def test_the_page_before_an_object_ends_next_to_it(stripe_api, pay):
    made = [pay().id for _ in range(4)]

    page = stripe_api.payment_intents.list({"limit": 2, "ending_before": made[0]})

    assert [intent.id for intent in page.data] == [made[2], made[1]]
    assert page.has_more is True


def test_an_exact_last_page_says_that_there_is_no_more(stripe_api, pay):
    for _ in range(2):
        pay()

    assert stripe_api.payment_intents.list({"limit": 2}).has_more is False


def test_intents_and_charges_are_listed_by_customer(stripe_api, pay):
    rosa, leo = (stripe_api.customers.create({"name": name}).id for name in ("Rosa", "Leo"))
    mine = pay(customer=rosa)
    pay(customer=leo)

    assert [one.id for one in stripe_api.payment_intents.list({"customer": rosa}).data] == [mine.id]
    assert [one.id for one in stripe_api.charges.list({"customer": rosa}).data] == [mine.latest_charge]


def test_a_list_is_read_after_write_and_bounded_by_time(processor, stripe_api, pay):
    pay()
    later = processor.turn_clock(seconds=100)
    mine = pay()

    assert [one.id for one in stripe_api.payment_intents.list({"created": {"gte": later}}).data] == [mine.id]
    assert [one.id for one in stripe_api.payment_intents.list({"created": {"gt": later + 60}}).data] == []


def test_list_items_can_be_expanded(stripe_api, pay):
    pay()

    (intent,) = stripe_api.payment_intents.list({"expand": ["data.latest_charge"]}).data

    assert intent.latest_charge.object == "charge"


def test_a_charge_lists_its_refunds_when_expanded(stripe_api, pay):
    intent = pay()
    refund = stripe_api.refunds.create({"payment_intent": intent.id, "amount": 5})

    charge = stripe_api.charges.retrieve(intent.latest_charge, {"expand": ["refunds"]})

    assert [one.id for one in charge.refunds.data] == [refund.id]
    assert "refunds" not in stripe_api.charges.retrieve(intent.latest_charge)


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"starting_after": "pi_none"}, "starting_after"),
        ({"customer": "cus_none"}, "customer"),
        ({"metadata": {"k": "v"}}, "metadata"),
        ({"created": {"around": 5}}, "created"),
    ],
)
def test_a_list_refuses_what_it_cannot_filter_by(stripe_api, given, param):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.payment_intents.list(given)

    assert refused.value.param == param
