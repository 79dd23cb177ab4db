"""Amounts: integers in the smallest unit, by the processor's own rules for each currency."""

from decimal import ROUND_HALF_EVEN, Decimal

from samples.processor.errors import ApiError

_ZERO_DECIMAL_CODES = "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf"
ZERO_DECIMAL = frozenset(_ZERO_DECIMAL_CODES.split())
THREE_DECIMAL = frozenset(["bhd", "jod", "kwd", "omr", "tnd"])
# Without decimals in daily life, yet sent with two that must be 00.
SENT_WITH_TWO_ZEROS = frozenset(("isk", "ugx"))
_TWO_DECIMAL_CODES = (
    "usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd "
    "cad cdf chf cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd "
    "hnl htg huf idr ils inr jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop "
    "mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar "
    "sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah uyu uzs wst xcd yer "
    "zar zmw"
)
TWO_DECIMAL = frozenset(_TWO_DECIMAL_CODES.split())
CURRENCIES = ZERO_DECIMAL | THREE_DECIMAL | SENT_WITH_TWO_ZEROS | TWO_DECIMAL

MINIMUM = {"usd": 50, "eur": 50, "gbp": 30, "jpy": 50, "cad": 50, "aud": 50, "chf": 50}
MAXIMUM = 999_999_999_999
_SIGNS = {"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥"}


def exponent(currency: str) -> int:
    if currency in ZERO_DECIMAL:
        return 0
    return 3 if currency in THREE_DECIMAL else 2


def check_amount(amount: int, currency: str, *, param: str = "amount") -> None:
    """Refuse amounts that the currency cannot express. Holds for refunds and captures too."""
    if amount > MAXIMUM:
        raise ApiError("Amount must be no more than 12 digits.", code="amount_too_large", param=param)
    if currency in THREE_DECIMAL and amount % 10:
        raise ApiError(
            f"Invalid amount: the last digit must be 0 for {currency.upper()}.",
            code="invalid_charge_amount",
            param=param,
        )
    if currency in SENT_WITH_TWO_ZEROS and amount % 100:
        raise ApiError(
            f"Invalid amount: {currency.upper()} amounts must be multiples of 100.",
            code="invalid_charge_amount",
            param=param,
        )


def check_minimum(amount: int, currency: str) -> None:
    if amount < MINIMUM.get(currency, 1):
        raise ApiError(
            f"Amount must be at least {shown(MINIMUM[currency], currency)} {currency}",
            code="amount_too_small",
            param="amount",
        )


def major(amount: int, currency: str) -> str:
    """The amount as exports print it: decimal major units, as many digits as the currency has."""
    return str(Decimal(amount).scaleb(-exponent(currency)))


def shown(amount: int, currency: str) -> str:
    """The amount as error messages print it."""
    sign = _SIGNS.get(currency)
    return f"{sign}{major(amount, currency)}" if sign else f"{major(amount, currency)} {currency.upper()}"


def processing_fee(amount: int, currency: str) -> int:
    """2.9 % and thirty of the smallest two-decimal unit; nothing fixed without decimals."""
    fixed = {0: 0, 2: 30, 3: 300}[exponent(currency)]
    return (amount * 29 + 500) // 1000 + fixed


def dispute_fee(currency: str) -> int:
    return 15 * 10 ** exponent(currency)


def convert(amount: int, source: str, target: str, rate: Decimal) -> int:
    value = Decimal(amount).scaleb(-exponent(source)) * rate
    return int(value.scaleb(exponent(target)).quantize(Decimal(1), rounding=ROUND_HALF_EVEN))
