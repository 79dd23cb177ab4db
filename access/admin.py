"""Staff, their roles and realms. Nobody is deleted: what they did names them for ever.

Whoever manages staff cannot raise themselves: own roles and realms, superusers and what a role
may do are changed by somebody else, or by a superuser.
"""

from typing import Any

from axes.utils import reset
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from access.addresses import address_of
from access.models import Realm, StaffMember, StaffRealm
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds
from access.rights import RightName
from access.second_factor import remove_second_factor
from access.services.logging import log_access

for stock in (User, Group, TOTPDevice, StaticDevice):
    admin.site.unregister(stock)


class Managed(admin.ModelAdmin):
    """Seen and changed by whoever manages staff; deleted by nobody."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return holds(request.user, RightName.MANAGE_STAFF)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return holds(request.user, RightName.MANAGE_STAFF)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return holds(request.user, RightName.MANAGE_STAFF)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class StaffMemberForm(forms.ModelForm):
    realms = forms.ModelMultipleChoiceField(
        Realm.objects.order_by("slug"), required=False, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = StaffMember
        fields = ("sees_all_realms",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["realms"] = list(self.instance.realms.values_list("realm_id", flat=True))

    def save_realms(self) -> None:
        """Give exactly the chosen realms; called once the member is saved."""
        chosen = {realm.pk for realm in self.cleaned_data["realms"]}
        self.instance.realms.exclude(realm_id__in=chosen).delete()
        held = set(self.instance.realms.values_list("realm_id", flat=True))
        StaffRealm.objects.bulk_create(
            StaffRealm(member=self.instance, realm_id=key) for key in sorted(chosen - held)
        )


class StaffMemberInline(admin.StackedInline):
    model = StaffMember
    form = StaffMemberForm
    can_delete = False
    verbose_name_plural = "realms"

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """Chosen where they may be changed; said in words where they may only be seen."""
        chosen_or_said = "realms" if self.has_change_permission(request, obj) else "realm_names"
        return ("sees_all_realms", chosen_or_said)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return () if self.has_change_permission(request, obj) else ("realm_names",)

    @admin.display(description="realms", empty_value="None")
    def realm_names(self, member: StaffMember) -> str:
        return ", ".join(sorted(granted.realm.name for granted in member.realms.select_related("realm")))

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return holds(request.user, RightName.MANAGE_STAFF)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_change(request.user, obj)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_change(request.user, obj)


@admin.register(User)
class StaffAdmin(Managed, UserAdmin):
    inlines = (StaffMemberInline,)
    actions = ("reset_second_factor", "end_pause")
    list_display = ("username", "email", "first_name", "last_name", "roles", "is_active", "last_login")
    list_filter = ("is_active", "is_superuser", "groups")
    filter_horizontal = ("groups",)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Roles", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
    )

    @admin.display(description="roles")
    def roles(self, user: User) -> str:
        return ", ".join(sorted(group.name.replace("_", " ") for group in user.groups.all()))

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_change(request.user, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        times = ("last_login", "date_joined")
        return times if request.user.is_superuser else (*times, "is_superuser")

    def save_model(self, request: HttpRequest, obj: User, form: forms.ModelForm, change: bool) -> None:
        """Whoever is added here is staff: this console has no other users."""
        if not change:
            obj.is_staff = True
        super().save_model(request, obj, form, change)

    def save_formset(
        self, request: HttpRequest, form: forms.ModelForm, formset: forms.BaseModelFormSet, change: bool
    ) -> None:
        super().save_formset(request, form, formset, change)
        for member in formset.forms:
            if isinstance(member, StaffMemberForm) and member.instance.pk and member.has_changed():
                member.save_realms()

    def log_addition(self, request: HttpRequest, obj: User, message: Any) -> LogEntry:
        log_change_of(request, obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: User, message: Any) -> LogEntry:
        log_change_of(request, obj)
        return super().log_change(request, obj, message)

    @admin.action(description="Reset the second factor of selected staff", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """For a lost device without recovery codes. Open sessions of these users end."""
        reset_for = [user for user in queryset if may_change(request.user, user)]
        for user in reset_for:
            with transaction.atomic():
                if remove_second_factor(user=user):
                    self.log_change(request, user, "Second factor reset.")
        self._say_left_out(request, queryset, reset_for)
        messages.success(request, f"The second factor of {len(reset_for)} was reset.")

    @admin.action(description="End the pause after failed sign-ins", permissions=["change"])
    def end_pause(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        freed = [user for user in queryset if may_change(request.user, user)]
        for user in freed:
            if reset(username=user.username):
                self.log_change(request, user, "Pause after failed sign-ins ended.")
        self._say_left_out(request, queryset, freed)
        messages.success(request, f"{len(freed)} can sign in again.")

    def _say_left_out(self, request: HttpRequest, chosen: QuerySet[User], done: list[User]) -> None:
        left_out = len(chosen) - len(done)
        if left_out:
            messages.warning(request, f"{left_out} left out: yourself, or a superuser.")


@admin.register(Group)
class RoleAdmin(Managed, GroupAdmin):
    """Roles: all who manage staff see what each may do, superusers change it."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_superuser)


@admin.register(Realm)
class RealmAdmin(Managed):
    list_display = ("slug", "name", "created_at")
    fields = ("slug", "name")

    def get_readonly_fields(self, request: HttpRequest, obj: Realm | None = None) -> tuple[str, ...]:
        """Applications name a realm by its slug, so it stays as it is."""
        return ("slug",) if obj else ()

    def save_model(self, request: HttpRequest, obj: Realm, form: forms.ModelForm, change: bool) -> None:
        if not change:
            obj.created_at = timezone.now()
        super().save_model(request, obj, form, change)


@admin.register(LogEntry)
class TableLogAdmin(admin.ModelAdmin):
    """What was changed on the stock pages, by field; for those who read the access log."""

    list_display = ("action_time", "user", "content_type", "object_id", "action_flag")
    list_filter = ("action_flag", "content_type")
    list_select_related = ("user", "content_type")
    date_hierarchy = "action_time"
    show_full_result_count = False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return holds(request.user, RightName.READ_ACCESS_LOG)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def may_change(manager: Any, user: Model | None) -> bool:
    """Tell whether `manager` may change that user; with None, whether any at all."""
    if not holds(manager, RightName.MANAGE_STAFF):
        return False
    if manager.is_superuser or not isinstance(user, User):
        return True
    return user.pk != manager.pk and not user.is_superuser


def log_change_of(request: HttpRequest, user: User) -> None:
    log_access(
        actor=actor_of(request),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.USER,
        target_id=str(user.pk),
        now=timezone.now(),
        address=address_of(request),
    )
