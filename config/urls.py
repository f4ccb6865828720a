"""All addresses: the apps' pages under one root, the API under `/api/v1/`."""

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

urlpatterns = [
    path("", include("projects.urls")),
    path("", include("annotations.urls")),
    path("", include("agreement.urls")),
    path("api/v1/", include("config.api_urls", namespace="api")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    # To somebody in a browser who is not logged in, the page is the log-in; the schema says 401.
    path("api/v1/docs/", login_required(SpectacularSwaggerView.as_view(url_name="api-schema")), name="api-docs"),
    path("django-admin/", admin.site.urls),
]
handler400 = "config.errors.bad_request"
handler403 = "config.errors.forbidden"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
