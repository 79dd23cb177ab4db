"""Customers: enough of them to charge somebody."""

from samples.processor.call import Call
from samples.processor.errors import Body
from samples.processor.events import emit
from samples.processor.ids import mint
from samples.processor.lists import list_objects
from samples.processor.parameters import merge_metadata

PLAIN = ("description", "email", "name", "phone")


def create_customer(call: Call) -> Body:
    customer: Body = {
        "id": mint("cus_", 14),
        "object": "customer",
        "address": None,
        "balance": 0,
        "created": call.now,
        "currency": None,
        "default_source": None,
        "delinquent": False,
        "description": None,
        "discount": None,
        "email": None,
        "invoice_prefix": mint("", 8).upper(),
        "invoice_settings": {
            "custom_fields": None,
            "default_payment_method": None,
            "footer": None,
            "rendering_options": None,
        },
        "livemode": False,
        "metadata": merge_metadata({}, call.values.get("metadata")),
        "name": None,
        "next_invoice_sequence": 1,
        "phone": None,
        "preferred_locales": [],
        "shipping": None,
        "tax_exempt": "none",
        "test_clock": None,
    }
    customer |= {name: call.values[name] for name in PLAIN if name in call.values}
    call.store.insert(customer, now=call.now)
    emit(call, "customer.created", customer)
    return customer


def update_customer(call: Call) -> Body:
    customer = call.store.get("customer", call.object_id)
    before = dict(customer)
    customer["metadata"] = merge_metadata(customer["metadata"], call.values.get("metadata"))
    customer |= {name: call.values[name] for name in PLAIN if name in call.values}
    previous = {name: before[name] for name in before if before[name] != customer[name]}
    if previous:
        call.store.save(customer, now=call.now)
        emit(call, "customer.updated", customer, previous=previous)
    return customer


def retrieve_customer(call: Call) -> Body:
    return call.store.get("customer", call.object_id)


def list_customers(call: Call) -> Body:
    return list_objects(call, "customer", url="/v1/customers", equal={"email": call.values.get("email")})
