"""What a request adds to its conversation: where it hangs, what is new, and why it hangs there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import connection

from conversations.drafts import MessageDraft
from conversations.identity import PathChain
from conversations.reads.digests import chain_at
from conversations.reads.path import StoredMessage, read_path
from conversations.services.recording.anchoring import find_anchor, last_turn_end
from conversations.services.recording.matching import Matched, RequestPath, find_deepest
from conversations.services.recording.tree import Tree
from conversations.vocabulary import BranchReason, HeadMoveReason, HistoryMatch, Role


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the request hangs. `path` ends in `below_seq`; `new` comes after it, with the digests.

    `base_seq` is the last message of the path that the body leaves out; `chain`
    stands at the request's end, ready for the answer.
    """

    tree: Tree
    match: HistoryMatch
    branch_reason: BranchReason
    path: Sequence[StoredMessage]
    new: Sequence[MessageDraft]
    digests: Sequence[bytes]
    chain: PathChain
    base_seq: int | None = None

    @property
    def below_seq(self) -> int | None:
        return self.path[-1].seq if self.path else None

    @property
    def body_path(self) -> list[MessageDraft]:
        """The messages that the body is rendered from."""
        base = self.base_seq or 0
        return [*(stored.draft for stored in self.path if stored.seq > base), *self.new]

    @property
    def head_reason(self) -> HeadMoveReason:
        return _HEAD_REASONS.get(self.branch_reason, HeadMoveReason.APPEND)


_HEAD_REASONS = {
    BranchReason.USER_EDIT: HeadMoveReason.USER_EDIT,
    BranchReason.CLIENT_REWRITE: HeadMoveReason.CLIENT_REWRITE,
    BranchReason.REGENERATE: HeadMoveReason.REGENERATE,
}


def place_request(messages: Sequence[MessageDraft], *, tree: Tree, base_seq: int | None) -> Placement:
    """Find the request's place in the locked tree.

    With `base_seq` the provider puts that message's path in front of the body.
    """
    account_id, conversation_id, head_seq = tree.account_id, tree.id, tree.head_seq
    chain = chain_at(account_id=account_id, conversation_id=conversation_id, seq=base_seq)
    request = RequestPath.along(messages, chain)
    matched = find_deepest(request, conversation_id=conversation_id, head_seq=head_seq)
    is_rewritten = False
    if (
        base_seq is None
        and head_seq is not None
        and (matched.place if matched else 0) < last_turn_end(messages)
    ):
        anchored = find_anchor(
            messages,
            account_id=account_id,
            conversation_id=conversation_id,
            head_seq=head_seq,
            behind=matched.place if matched else 0,
        )
        if anchored is not None:
            request, matched = anchored
            is_rewritten = True
    if matched is None and base_seq is not None:
        matched = Matched(base_seq, 0, 0)
    path = _path_to(tree, matched)
    if is_rewritten and matched is not None:
        base_seq = _cut_off_at(path, matched)
    new, digests = _remainder(request, matched)
    match, branch_reason = _judge(tree, path, new, is_rewritten=is_rewritten)
    return Placement(
        tree=tree,
        match=match,
        branch_reason=branch_reason,
        path=path,
        new=new,
        digests=digests,
        chain=request.chain,
        base_seq=base_seq,
    )


def _path_to(tree: Tree, matched: Matched | None) -> list[StoredMessage]:
    return [] if matched is None else read_path(conversation_id=tree.id, leaf_seq=matched.seq)


def _cut_off_at(path: Sequence[StoredMessage], matched: Matched) -> int | None:
    """The body holds as many messages of the path as were matched: what comes before was cut off."""
    outside = len(path) - matched.place
    return path[outside - 1].seq if outside > 0 else None


def _remainder(request: RequestPath, matched: Matched | None) -> tuple[list[MessageDraft], list[bytes]]:
    if matched is None:
        return list(request.messages), list(request.digests)
    new = list(request.messages[matched.place :])
    if matched.parts:
        # The client merged what was said later into a message that is known: only the rest is new.
        new[0] = replace(new[0], parts=new[0].parts[matched.parts :], shell=None)
    return new, request.digests[matched.place :]


def _judge(
    tree: Tree,
    path: Sequence[StoredMessage],
    new: Sequence[MessageDraft],
    *,
    is_rewritten: bool,
) -> tuple[HistoryMatch, BranchReason]:
    if not path and tree.head_seq is None:
        return HistoryMatch.STARTED, BranchReason.CONTINUE
    siblings = _roles_below(tree, path[-1].seq if path else None)
    match = HistoryMatch.REWRITTEN if is_rewritten else HistoryMatch.CONTINUED
    if not siblings:
        return match, BranchReason.CONTINUE
    if not new:
        return match, BranchReason.REGENERATE if Role.ASSISTANT in siblings else BranchReason.CONTINUE
    is_edit = new[0].role == Role.USER and Role.USER in siblings and not any(new[0].results())
    reason = BranchReason.USER_EDIT if is_edit else BranchReason.CLIENT_REWRITE
    return (match if is_rewritten else HistoryMatch.BRANCHED), reason


def _roles_below(tree: Tree, seq: int | None) -> set[str]:
    if seq is not None and seq == tree.next_seq - 1:
        return set()  # written last: nothing can hang below it
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT role FROM conversations_message"
            " WHERE conversation_id = %s AND parent_seq IS NOT DISTINCT FROM %s",
            [tree.id, seq],
        )
        return {row[0] for row in cursor.fetchall()}
