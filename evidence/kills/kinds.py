"""Every kind of job with its story, and those that have none, with the reason."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from access.models import Realm
from console.job_pages.kinds import EXPORT, IMPORT
from conversations.tasks import verify_replay
from evidence.crashes.stories import World
from evidence.kills import alerting, comparing, erasing, forgetting, freeing, paying, purging, reading
from evidence.kills.story import Story
from evidence.month import START
from ledger.integrity.verifying import KIND as VERIFY
from ledger.reconciliation.starting import KIND as RECONCILE
from ledger.services.pulling import KIND as PULL
from retention.erasure.job import ERASE
from retention.purging.job import PURGE
from retention.services.continuing import CONTINUE
from retention.services.forgetting import FORGET


@dataclass(frozen=True, slots=True)
class Places:
    """Where stories play: the blobs' folder, the sandbox processor, and what the receiver of alerts heard."""

    folder: Path
    world: World
    heard: Path

    @staticmethod
    def realm(slug: str) -> Realm:
        return Realm.objects.get_or_create(slug=slug, defaults={"name": slug, "created_at": START})[0]


type Maker = Callable[[Places], Story]

# Those that look at everything come first: what others add would change what they count.
STORIES: Final[dict[str, Maker]] = {
    VERIFY: lambda places: reading.integrity_story(places.realm("proved")),
    RECONCILE: lambda places: reading.reconciliation_story(places.realm("killed")),
    comparing.PULLED: lambda places: comparing.pulled_story(places.world),
    str(verify_replay.name): lambda places: reading.replay_story(places.realm("replayed")),
    PURGE: lambda places: purging.story(places.realm("purged"), places.folder),
    ERASE: lambda places: erasing.erasure_story(places.realm("erased"), places.folder),
    CONTINUE: lambda places: erasing.continuing_story(places.realm("continued"), places.folder),
    FORGET: lambda places: forgetting.story(places.realm("forgotten")),
    freeing.SWEEP: lambda places: freeing.story(),
    alerting.ALERTS: lambda places: alerting.Failures(places.heard).story(),
    "ledger.sweep": lambda places: paying.sweep_story(places.world),
    "ledger.send_refunds": lambda places: paying.refund_story(places.world),
    "ledger.work_events": lambda places: paying.event_story(places.world),
    PULL: lambda places: paying.pull_story(places.world),
    comparing.DAILY: lambda places: comparing.Nights(places.world).story(),
}

WITHOUT: Final[dict[str, str]] = {
    "jobs.start": "One insert: it is committed or it is not, and the next beat begins it. "
    "That two beats are one run is shown beside the stories.",
    "ledger.work_event": "What a webhook wakes, without a run. An event that it has not worked on to its "
    "end is one that ledger.work_events works on: that is how the story of that job begins.",
    IMPORT: "No worker does it: a command in the foreground. What it wrote stays, and importing again "
    "adds the rest: script/evidence imports.",
    EXPORT: "No worker does it: a command in the foreground, which writes to a file and no row.",
}
