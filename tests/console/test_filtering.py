from django.http import QueryDict

from console.filtering import Choice, filter_group, without

OPTIONS = [("failed", "Failed"), ("applied", "Applied")]


def test_a_choice_keeps_the_other_filters_and_starts_the_list_anew():
    query = QueryDict("state=failed&currency=EUR&after=abc&before=def")

    group = filter_group(query=query, name="state", title="state", options=OPTIONS)

    assert group.choices == [
        Choice("All", "?currency=EUR", False),
        Choice("Failed", "?currency=EUR&state=failed", True),
        Choice("Applied", "?currency=EUR&state=applied", False),
    ]
    assert group.is_set


def test_without_a_value_the_first_choice_is_selected():
    group = filter_group(query=QueryDict(""), name="age", title="age", options=OPTIONS, every="Any time")

    assert group.choices[0] == Choice("Any time", "?", True)
    assert not group.is_set


def test_a_value_that_is_no_option_selects_nothing_and_is_not_repeated():
    query = QueryDict("state=%22%3E%3Cscript%3E")

    group = filter_group(query=query, name="state", title="state", options=OPTIONS)

    assert [choice.is_selected for choice in group.choices] == [False, False, False]
    assert [choice.url for choice in group.choices] == ["?", "?state=failed", "?state=applied"]


def test_filters_can_be_lifted():
    assert without(QueryDict("state=failed&currency=EUR&q=a&after=x"), "state", "currency") == "?q=a"
