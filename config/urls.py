from django.contrib import admin
from django.urls import include, path

from access.views.sign_in import SignIn, SignOut
from config.api.urls import urlpatterns as api_urls
from config.health import healthz

admin.site.site_header = "Counterfoil"
admin.site.site_title = "Counterfoil"
admin.site.index_title = "Tables"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    # In place of the admin's own, which knows neither a second factor nor the access log.
    path("admin/login/", SignIn.as_view()),
    path("admin/logout/", SignOut.as_view()),
    path("admin/", admin.site.urls),
    path("api/", include((api_urls, "api"))),
    path("", include("ledger.urls")),
    path("", include("access.urls")),
    path("", include("console.urls")),
]

handler400 = "config.errors.bad_request"
handler403 = "console.errors.permission_denied"
handler404 = "console.errors.page_not_found"
handler500 = "config.errors.server_error"
