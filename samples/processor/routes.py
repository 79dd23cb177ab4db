"""Every endpoint: its address, the parameters it takes, and the rule behind it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from samples.processor import (
    balance,
    cards,
    charges,
    customers,
    disputes,
    endpoints,
    events,
    intents,
    refunds,
    search,
)
from samples.processor.call import Endpoint
from samples.processor.errors import ApiError, Body
from samples.processor.money import CURRENCIES
from samples.processor.parameters import (
    METADATA,
    OPTIONAL_TEXT,
    PAGE,
    Field,
    Fields,
    boolean,
    group,
    one_of,
    page_size,
    positive,
    text,
    texts,
)
from samples.processor.scheduled import Action
from samples.processor.wire import Raw


@dataclass(frozen=True)
class Route:
    method: str
    pattern: re.Pattern[str]
    endpoint: Endpoint
    fields: Fields
    check: Callable[[Body], None] | None = None


def currency(name: str, raw: Raw) -> str:
    code = text(name, raw).lower()
    if code not in CURRENCIES:
        raise ApiError(
            f"Invalid currency: {code}. Stripe currently supports these currencies: "
            f"{', '.join(sorted(CURRENCIES))}",
            param=name,
        )
    return code


def _texts(*names: str) -> dict[str, Field]:
    return dict.fromkeys(names, OPTIONAL_TEXT)


_DESCRIBED = {
    "metadata": METADATA,
    **_texts("description", "receipt_email", "statement_descriptor", "statement_descriptor_suffix"),
    **_texts("transfer_group"),
    "setup_future_usage": Field(one_of("off_session", "on_session")),
}
_CONFIRMED = {
    **_texts("payment_method", "return_url"),
    "off_session": Field(boolean),
    "error_on_requires_action": Field(boolean),
}
_CREATE_INTENT = {
    "amount": Field(positive, required=True),
    "currency": Field(currency, required=True),
    "automatic_payment_methods": Field(
        group(enabled=Field(boolean, required=True), allow_redirects=Field(one_of("always", "never")))
    ),
    "capture_method": Field(one_of("automatic", "automatic_async", "manual")),
    "confirm": Field(boolean),
    "confirmation_method": Field(one_of("automatic", "manual")),
    "customer": OPTIONAL_TEXT,
    "payment_method_types": Field(texts),
    **_DESCRIBED,
    **_CONFIRMED,
}
_UPDATE_INTENT = {"amount": Field(positive), **_texts("customer", "payment_method"), **_DESCRIBED}
_CAPTURE = {
    "amount_to_capture": Field(positive),
    "metadata": METADATA,
    **_texts("statement_descriptor", "statement_descriptor_suffix"),
}
_CANCEL = {
    "cancellation_reason": Field(one_of("abandoned", "duplicate", "fraudulent", "requested_by_customer"))
}
_CREATE_REFUND = {
    **_texts("charge", "payment_intent"),
    "amount": Field(positive),
    "metadata": METADATA,
    "reason": Field(one_of("duplicate", "fraudulent", "requested_by_customer")),
}
_CUSTOMER = {**_texts(*customers.PLAIN), "metadata": METADATA}
_DISPUTE = {
    "evidence": Field(group(**_texts(*disputes.EVIDENCE))),
    "metadata": METADATA,
    "submit": Field(boolean),
}
_EVENTS = {"type": OPTIONAL_TEXT, "types": Field(texts), "delivery_success": Field(boolean)}
_SEARCH = {"query": Field(text, required=True), "limit": Field(page_size), "page": OPTIONAL_TEXT}
_ENDPOINT = {"url": OPTIONAL_TEXT, "enabled_events": Field(texts), "description": OPTIONAL_TEXT}
_NEW_ENDPOINT = {
    **_ENDPOINT,
    "url": Field(text, required=True),
    "enabled_events": Field(texts, required=True),
    "metadata": METADATA,
}
_BY_CHARGE = _texts("charge", "payment_intent")


def _route(
    method: str,
    address: str,
    endpoint: Endpoint,
    fields: Fields | None = None,
    check: Callable[[Body], None] | None = None,
) -> Route:
    pattern = re.compile("/v1/" + address.replace("{id}", "(?P<id>[^/]+)"))
    return Route(method, pattern, endpoint, fields or {}, check)


ROUTES = [
    _route("POST", "payment_intents", intents.create_intent, _CREATE_INTENT),
    _route("GET", "payment_intents", intents.list_intents, {**PAGE, **_texts("customer")}),
    _route("GET", "payment_intents/search", search.search_intents, _SEARCH),
    _route("GET", "payment_intents/{id}", intents.retrieve_intent, _texts("client_secret")),
    _route("POST", "payment_intents/{id}", intents.update_intent, _UPDATE_INTENT),
    _route("POST", "payment_intents/{id}/confirm", intents.confirm_intent, _CONFIRMED),
    _route("POST", "payment_intents/{id}/capture", intents.capture_intent, _CAPTURE),
    _route("POST", "payment_intents/{id}/cancel", intents.cancel_intent, _CANCEL),
    _route(
        "GET",
        "charges",
        charges.list_charges,
        {**PAGE, **_texts("payment_intent", "customer", "transfer_group")},
    ),
    _route("GET", "charges/search", search.search_charges, _SEARCH),
    _route("GET", "charges/{id}", charges.retrieve_charge),
    _route("POST", "charges/{id}", charges.update_charge, {"metadata": METADATA, **_texts("description")}),
    _route("GET", "payment_methods/{id}", cards.retrieve_method),
    _route(
        "POST", "payment_methods/{id}/attach", cards.attach_method, {"customer": Field(text, required=True)}
    ),
    _route("POST", "refunds", refunds.create_refund, _CREATE_REFUND, refunds.check_target),
    _route("GET", "refunds", refunds.list_refunds, {**PAGE, **_BY_CHARGE}),
    _route("GET", "refunds/{id}", refunds.retrieve_refund),
    _route("POST", "refunds/{id}", refunds.update_refund, {"metadata": METADATA}),
    _route("GET", "disputes", disputes.list_disputes, {**PAGE, **_BY_CHARGE}),
    _route("GET", "disputes/{id}", disputes.retrieve_dispute),
    _route("POST", "disputes/{id}", disputes.update_dispute, _DISPUTE),
    _route("POST", "disputes/{id}/close", disputes.close_dispute),
    _route("GET", "events", events.list_events, {**PAGE, **_EVENTS}),
    _route("GET", "events/{id}", events.retrieve_event),
    _route(
        "GET",
        "balance_transactions",
        balance.list_balance_transactions,
        {**PAGE, **_texts("source", "type", "currency")},
    ),
    _route("GET", "balance_transactions/{id}", balance.retrieve_balance_transaction),
    _route("POST", "customers", customers.create_customer, _CUSTOMER),
    _route("GET", "customers", customers.list_customers, {**PAGE, **_texts("email")}),
    _route("GET", "customers/search", search.search_customers, _SEARCH),
    _route("GET", "customers/{id}", customers.retrieve_customer),
    _route("POST", "customers/{id}", customers.update_customer, _CUSTOMER),
    _route("POST", "webhook_endpoints", endpoints.create_endpoint, _NEW_ENDPOINT, endpoints.check_url),
    _route("GET", "webhook_endpoints", endpoints.list_endpoints, PAGE),
    _route("GET", "webhook_endpoints/{id}", endpoints.retrieve_endpoint),
    _route(
        "POST",
        "webhook_endpoints/{id}",
        endpoints.update_endpoint,
        {**_ENDPOINT, "disabled": Field(boolean)},
        endpoints.check_url,
    ),
    _route("DELETE", "webhook_endpoints/{id}", endpoints.delete_endpoint),
]


def resolve(method: str, path: str) -> tuple[Route, str]:
    """The route and the id in its address. The first that fits wins: `search` is no id."""
    for route in ROUTES:
        match = route.pattern.fullmatch(path)
        if route.method == method and match is not None:
            return route, match.groupdict().get("id", "")
    raise ApiError(
        f"Unrecognized request URL ({method}: {path}). If you are trying to list objects, remove the "
        "trailing slash. If you are trying to retrieve an object, make sure you passed a valid (non-empty) "
        "identifier in your code.",
        status=404,
    )


SCHEDULED: dict[str, Action] = {
    "authorisation_expires": intents.cancel_uncaptured,
    "dispute_opens": disputes.dispute_by_itself,
    "inquiry_opens": disputes.inquire_by_itself,
    "refund_fails": refunds.fail_by_itself,
    "refund_succeeds": refunds.succeed_refund,
}
