"""What Wendelmere Travel sells and to whom: its customers, the assistant's prompt, its tools."""

from collections.abc import Mapping

from samples.company.story import Customer

PROMPT_VERSION = "travel-agent 41"

PROMPT = (
    "You are the travel assistant of Wendelmere Travel. You help customers with bookings, fares, credits, "
    "hotels and rail tickets. Look things up with the tools before you answer; never guess a price. Say what "
    "a purchase costs, in which currency, and on which card, before you make it. If a tool does not answer, "
    "say that you do not know whether it went through, and look at the booking before you try again. "
    "Answer in the customer's language, briefly."
)

INES = Customer("cus-1001", "Inês Okafor", "ines.okafor@example.com")
AMELIE = Customer("cus-1002", "Amélie Thibault", "amelie.thibault@example.com")
LI = Customer("cus-1003", "Li Wen", "li.wen@example.com", "wendelmere-uk")
TAKUMI = Customer("cus-1004", "林 匠 (Takumi Hayashi)", "takumi.hayashi@example.com")
NOOR = Customer("cus-1005", "نور العلي (Noor Elali)", "noor.elali@example.com")
DANA = Customer("cus-1006", "Dana Moreno", "dana.moreno@example.com", "wendelmere-us")
OSKAR = Customer("cus-1007", "Oskar Nyström", "oskar.nystrom@example.com")
PERPETUA = Customer("cus-1008", "Perpetua Obi", "perpetua.obi@example.com")
JONAS = Customer("cus-1009", "Jonas Amsel", "jonas.amsel@example.com", "wendelmere-us")
SIGRUN = Customer("cus-1010", "Sigrún Þórsdóttir", "sigrun.thorsdottir@example.com")
RAFAEL = Customer("cus-1011", "Rafael Nunes", "rafael.nunes@example.com")
KOFI = Customer("cus-1012", "Kofi Larbi", "kofi.larbi@example.com", "wendelmere-uk")
WRENLEY = Customer("org-2001", "Wrenley & Sons (group bookings)", "groups@example.com", "wendelmere-uk")
QUALITY = Customer("int-3001", "Quality team, answer trials", "quality@example.com")
REALMS = {
    "wendelmere-eu": "Wendelmere Travel Europe",
    "wendelmere-uk": "Wendelmere Travel UK",
    "wendelmere-us": "Wendelmere Travel USA",
}

CUSTOMERS = (
    INES,
    AMELIE,
    LI,
    TAKUMI,
    NOOR,
    DANA,
    OSKAR,
    PERPETUA,
    JONAS,
    SIGRUN,
    RAFAEL,
    KOFI,
    WRENLEY,
    QUALITY,
)

_TEXT = {"type": "string"}
_COUNT = {"type": "integer"}


def _tool(name: str, description: str, **arguments: Mapping[str, object]) -> dict[str, object]:
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return {"name": name, "description": description, "schema": schema}


_TOOLS = (
    _tool("find_booking", "Find a customer's bookings by e-mail or surname.", query=_TEXT),
    _tool("get_booking", "Read one booking as it stands now.", booking_ref=_TEXT),
    _tool("get_fare_rules", "Read what a fare allows.", booking_ref=_TEXT, fare=_TEXT),
    _tool("quote_upgrade", "Price a change of fare.", booking_ref=_TEXT, to=_TEXT, passengers=_COUNT),
    _tool(
        "purchase_credits",
        "Buy travel credits. Charges the payment method.",
        credits=_COUNT,
        amount=_TEXT,
        currency=_TEXT,
        payment_method=_TEXT,
    ),
    _tool("change_fare", "Change a booking's fare. Charges the payment method.", booking_ref=_TEXT, to=_TEXT),
    _tool("rebook_flight", "Move a booking to another flight.", booking_ref=_TEXT, seat=_TEXT),
    _tool(
        "book_hotel",
        "Book a room. Charges the payment method.",
        hotel=_TEXT,
        arrival=_TEXT,
        nights=_COUNT,
        amount=_TEXT,
        currency=_TEXT,
    ),
    _tool(
        "book_rail",
        "Buy a rail ticket. Charges the payment method.",
        train=_TEXT,
        day=_TEXT,
        amount=_TEXT,
        currency=_TEXT,
    ),
    _tool(
        "send_gift_card",
        "Send a gift card by e-mail. Charges the payment method.",
        to=_TEXT,
        amount=_TEXT,
        currency=_TEXT,
    ),
    _tool("refund_charge", "Ask for a refund of a charge.", charge=_TEXT, amount=_TEXT, reason=_TEXT),
    _tool("search_trips", "Search connections.", origin=_TEXT, destination=_TEXT, day=_TEXT),
    _tool("get_weather", "Weather at a place on a day.", place=_TEXT, day=_TEXT),
)


def tools_for_messages(*names: str) -> list[dict[str, object]]:
    """The named tools (or all) as the Messages API takes them."""
    chosen = [tool for tool in _TOOLS if not names or tool["name"] in names]
    return [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["schema"]}
        for tool in chosen
    ]


def tools_for_openai(*names: str) -> list[dict[str, object]]:
    """The named tools (or all), with `parameters`, as OpenAI's APIs take them."""
    chosen = [tool for tool in _TOOLS if not names or tool["name"] in names]
    return [
        {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]}
        for tool in chosen
    ]
