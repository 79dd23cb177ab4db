"""The admin inside our frame: what stock pages lack and ours mend, and that nothing is inline."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.template.response import TemplateResponse
from django.test import RequestFactory
from django.utils import timezone

from access.models import Realm
from console.frame import frame_context

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> User:
    return User.objects.create_superuser("maja", password="pw", first_name="Maja", last_name="Lind")


@pytest.fixture
def visit(client, staff):
    client.force_login(staff)
    return lambda address: client.get(address).content.decode()


def test_the_log_in_page_has_a_heading(client):
    page = client.get("/admin/login/").content.decode()

    assert re.findall(r"<h1>(.*?)</h1>", page) == ["Log in"]
    assert "<title>Log in | Counterfoil</title>" in page


def test_our_sheet_is_the_last_one(visit):
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', visit("/admin/auth/user/"))

    assert sheets[-1] == "/static/console/console.css"
    assert sheets.index("/static/admin/css/responsive.css") == len(sheets) - 2


@pytest.mark.parametrize(
    "address",
    ["/admin/", "/admin/auth/", "/admin/auth/user/", "/admin/auth/group/add/", "/admin/password_change/"],
)
def test_no_page_has_a_style_or_a_script_of_its_own(visit, address):
    page = visit(address)

    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:|src=\"data:", page)


def test_htmx_neither_evaluates_nor_styles_nor_keeps_pages(visit):
    page = visit("/admin/")

    assert (
        """<meta name="htmx-config" content='{"includeIndicatorStyles": false, "allowEval": false,"""
        """ "allowScriptTags": false, "historyCacheSize": 0, "historyRestoreAsHxRequest": false}'>"""
    ) in page
    assert '<script src="/static/django_htmx/htmx-2.min.js" defer></script>' in page


def test_the_search_of_a_list_has_words_for_its_label(visit):
    assert '<span class="visually-hidden">Search users</span></label>' in visit("/admin/auth/user/")


def test_a_sorted_column_says_so(visit):
    page = visit("/admin/auth/user/?o=-2.1")

    assert re.findall(r'aria-sort="([a-z]+)"', page) == ["descending"]
    assert "Email address ↓1</a>" in page


def test_a_hostile_title_is_shown_as_what_it_is(visit):
    group = Group.objects.create(name="ops\u202e<script>")

    page = visit(f"/admin/auth/group/{group.pk}/change/")

    assert "<title>ops[U+202E]&lt;script&gt; | Change group | Counterfoil</title>" in page
    assert (
        '<h2><bdi>ops<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span>'
        "&lt;script&gt;</bdi></h2>"
    ) in page


class Memberships(admin.TabularInline):
    model = User.groups.through
    extra = 1


class GroupWithMembers(admin.ModelAdmin):
    inlines = (Memberships,)


def test_a_field_in_a_table_of_fields_says_its_name(staff):
    request = RequestFactory().get("/")
    request.user = staff

    response = GroupWithMembers(Group, admin.site).add_view(request)

    assert isinstance(response, TemplateResponse)
    page = response.render().content.decode()
    (select,) = re.findall('<select name="User_groups-0-user"[^>]*>', page)
    assert ' aria-label="User" ' in select


def test_every_sign_that_a_page_uses_is_in_the_sprite(visit):
    page = visit("/admin/auth/user/")

    used = set(re.findall(r'href="#([is]-[a-z]+)"', page))
    assert used
    assert used <= set(re.findall(r'<symbol [^>]*id="([^"]+)"', page))


def test_the_menu_marks_the_page_one_is_on(visit):
    page = visit("/admin/auth/user/")

    assert '<a href="/admin/auth/user/" aria-current="page">Users</a>' in page
    assert "<caption>Access</caption>" in page


def test_a_printed_page_says_who_printed_it(visit):
    assert re.search(
        r'class="print-only">Counterfoil\. Printed by Maja Lind on \d+ \w+ \d{4}, ', visit("/admin/")
    )


def test_a_page_of_our_own_gets_the_frame_of_the_admin(staff):
    request = RequestFactory().get("/")
    request.user = staff
    now = timezone.now()

    context = frame_context(request, now=now, title="Effects", subtitle="What tools did outside.")

    assert (context["title"], context["subtitle"], context["now"]) == (
        "Effects",
        "What tools did outside.",
        now,
    )
    assert context["has_permission"] is True
    assert context["is_nav_sidebar_enabled"] is True


def test_the_product_shows_its_own_pages_of_refusals(client):
    response = client.get("/no/such/page/")

    assert response.status_code == 404
    assert "<h1>There is nothing at this address</h1>" in response.content.decode()


def test_a_tab_is_named_after_the_page_and_not_after_what_the_page_is_for(visit):
    assert "<title>Second factor | Counterfoil</title>" in visit("/second-factor/")


@pytest.mark.parametrize("address", ["/admin/", "/admin/password_change/", "/admin/password_change/done/"])
def test_every_page_has_the_same_links_of_the_user(visit, address):
    header = re.search(r'<div id="user-tools">(.*?)<form id="logout-form"', visit(address), re.DOTALL)

    assert header is not None
    assert re.findall(r">([^<>]+)</a>", header[1]) == ["Second factor", "Password"]
    assert "/\n" not in header[1]


def test_every_page_says_in_which_zone_its_times_are(visit):
    for address in ("/", "/effects/", "/admin/auth/user/"):
        assert "<span>Times are in UTC.</span>" in visit(address)


def test_stock_tables_write_times_as_our_pages_do(visit):
    Realm.objects.create(slug="eu", name="Europe", created_at="2026-11-24T14:05:00Z")

    assert '<td class="field-created_at nowrap">24 Nov 2026, 14:05</td>' in visit("/admin/access/realm/")
