"""What the many write about: short scripts with gaps, in several languages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, perhaps a call with what it found, and the answer."""

    question: str
    reply: str
    tool: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    found: str = ""


@dataclass(frozen=True, slots=True)
class Matter:
    title: str
    turns: tuple[Turn, ...]


_BOOKING = (("booking_ref", "{ref}"),)

MATTERS = (
    Matter(
        "Seats on booking {ref}",
        (
            Turn(
                "Can I change my seat on {ref}?",
                "Yes. {ref} goes to {city}; which seat would you like?",
                "get_booking",
                _BOOKING,
                '{{"ref": "{ref}", "to": "{city}", "seat": "{number}B"}}',
            ),
            Turn("aisle, further to the front if possible", "You now sit in row {number}, on the aisle."),
            Turn("thanks!", "You are welcome. Have a good trip to {city}."),
        ),
    ),
    Matter(
        "Baggage to {city}",
        (
            Turn("How much luggage may I take to {city}?", "One bag of {number} kg and one for the cabin."),
            Turn("and skis?", "Skis count as a bag of their own, up to {number} kg."),
        ),
    ),
    Matter(
        "Weather in {city}",
        (
            Turn(
                "do i need an umbrella in {city} on {day}",
                "Probably: rain is expected in {city}, {number} mm.",
                "get_weather",
                (("place", "{city}"), ("day", "{day}")),
                '{{"sky": "rain", "mm": {number}}}',
            ),
        ),
    ),
    Matter(
        "Rechnung für {ref}",
        (
            Turn(
                "Ich brauche eine Rechnung für {ref} auf meine Firma.",
                "Die Rechnung für {ref} über {price} EUR geht heute an Ihre Adresse.",
                "get_booking",
                _BOOKING,
                '{{"ref": "{ref}", "total": "{price}", "currency": "EUR"}}',
            ),
            Turn("Mit Umsatzsteuer-Nummer bitte", "Gern, die Nummer steht darauf."),
        ),
    ),
    Matter(
        "Train vers {city}",
        (
            Turn(
                "Quels trains pour {city} le {day} ?",
                "Il y a un train à {number} h 12, direct, pour {price} EUR.",
                "search_trips",
                (("origin", "Lyon"), ("destination", "{city}"), ("day", "{day}")),
                '{{"trains": [{{"no": "TGV 66{number}", "price": "{price} EUR"}}]}}',
            ),
            Turn(
                "Parfait, réservez.",
                "C’est fait : {price} EUR, billet envoyé par courriel.",
                "book_rail",
                (("train", "TGV 66{number}"), ("day", "{day}"), ("amount", "{price}"), ("currency", "EUR")),
                '{{"status": "succeeded", "charge": "{charge}"}}',
            ),
        ),
    ),
    Matter(
        "Crédits para {city}",
        (
            Turn("Quero comprar {number}00 créditos para {city}", "Custam {price} EUR. Confirma?"),
            Turn(
                "sim",
                "Feito: {number}00 créditos, {price} EUR.",
                "purchase_credits",
                (("amount", "{price}"), ("currency", "EUR"), ("payment_method", "pm_{ref}")),
                '{{"status": "succeeded", "charge": "{charge}"}}',
            ),
        ),
    ),
    Matter(
        "{city}までの便",
        (
            Turn("{city}行きの便は毎日ありますか。", "はい、毎日{number}時10分発です。"),
            Turn("乗り継ぎは？", "直行便です。所要時間は約{number}時間です。"),
        ),
    ),
    Matter(
        "Cancel {ref}",
        (
            Turn(
                "Please cancel {ref}, I am ill",
                "I am sorry to hear that. {ref} can be cancelled for {price} EUR. Shall I?",
                "get_booking",
                _BOOKING,
                '{{"ref": "{ref}", "fee": "{price}"}}',
            ),
            Turn("no, that is too much. keep it", "{ref} stays as it is."),
            Turn("can my brother travel instead of me?", "Names on this fare cannot be changed."),
            Turn("why not?", "The fare Basic does not allow it; Flexi would, for {price} EUR more."),
        ),
    ),
)

CITIES = ("Lisbon", "Oslo", "Kraków", "Palermo", "Gent", "Tallinn", "Zürich", "Cork", "Split", "Malmö")
FIRST_NAMES = ("Ada", "Bruno", "Chioma", "Dmitri", "Elif", "Farah", "Gwen", "Hugo", "Ikram", "Jun")
LAST_NAMES = ("Abel", "Brandt", "Costa", "Dahl", "Ekman", "Fabre", "Greco", "Haas")
