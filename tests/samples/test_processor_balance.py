DAY = 24 * 3600


def test_rows_are_listed_by_source_type_and_time(processor, stripe_api, pay):
    intent = pay()
    later = processor.turn_clock(seconds=DAY)
    refund = stripe_api.refunds.create({"payment_intent": intent.id, "amount": 500})
    rows = stripe_api.balance_transactions

    assert [row.amount for row in rows.list({"source": intent.latest_charge}).data] == [2000]
    assert [row.source for row in rows.list({"type": "refund"}).data] == [refund.id]
    assert [row.source for row in rows.list({"created": {"gte": later}}).data] == [refund.id]


def test_a_row_becomes_available_after_two_days(processor, stripe_api, pay):
    pay()
    (row,) = stripe_api.balance_transactions.list().data
    assert (row.status, row.available_on - row.created) == ("pending", 2 * DAY)

    processor.turn_clock(seconds=2 * DAY)

    assert stripe_api.balance_transactions.retrieve(row.id).status == "available"


def test_every_row_nets_its_amount_and_fee(processor, stripe_api, pay):
    intent, disputed = pay(), pay()
    refund = stripe_api.refunds.create({"payment_intent": intent.id})
    processor.fail_refund(refund.id)
    processor.close_dispute(processor.open_dispute(disputed.latest_charge)["id"], status="won")

    rows = stripe_api.balance_transactions.list().data[::-1]

    assert [(row.reporting_category, row.amount, row.fee, row.net) for row in rows] == [
        ("charge", 2000, 88, 1912),
        ("charge", 2000, 88, 1912),
        ("refund", -2000, 0, -2000),
        ("refund_failure", 2000, 0, 2000),
        ("dispute", -2000, 1500, -3500),
        ("dispute_reversal", 2000, -1500, 3500),
    ]


def test_a_charge_in_another_currency_settles_at_the_rate_that_was_set(processor, stripe_api, pay):
    processor.pull("settlement", {"currency": "usd", "rates": {"eur": "1.08"}})
    intent = pay(currency="eur", amount=1000)

    refund = stripe_api.refunds.create({"payment_intent": intent.id, "amount": 500})

    rows = stripe_api.balance_transactions.list().data[::-1]
    assert [(row.amount, row.currency, row.exchange_rate) for row in rows] == [
        (1080, "usd", 1.08),
        (-540, "usd", 1.08),
    ]
    assert (refund.amount, refund.currency) == (500, "eur")
