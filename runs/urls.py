"""The paths of the pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from runs.views import account, runs, sessions, sign_in

urlpatterns: list[URLPattern] = [
    path("", sessions.index, name="sessions"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("account/", account.account, name="account"),
    path("account/tokens/<str:token_id>/revoke/", account.revoke, name="revoke-token"),
    path("account/sign-out-everywhere/", account.sign_out_everywhere, name="sign-out-everywhere"),
    path("sessions/<str:session_id>/", sessions.session_page, name="session"),
    path("sessions/<str:session_id>/runs/", sessions.submit, name="submit"),
    path("sessions/<str:session_id>/live/", sessions.live, name="live"),
    path("runs/<str:run_id>/", runs.run_page, name="run"),
    path("runs/<str:run_id>/cancel/", runs.cancel, name="cancel"),
    path("runs/<str:run_id>/raw/<str:part>/", runs.raw, name="raw"),
]
