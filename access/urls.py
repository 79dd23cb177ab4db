from django.urls import URLPattern, URLResolver, path

from access.views import second_factor, sign_in

app_name = "access"

urlpatterns: list[URLPattern | URLResolver] = [
    path("sign-in/code/", sign_in.code, name="code"),
    path("second-factor/", second_factor.second_factor, name="second-factor"),
    path("second-factor/set-up/", second_factor.enrol, name="second-factor-enrol"),
    path("second-factor/picture.svg", second_factor.picture, name="second-factor-picture"),
    path("second-factor/recovery-codes/", second_factor.new_codes, name="recovery-codes"),
    path("second-factor/remove/", second_factor.remove, name="second-factor-remove"),
]
