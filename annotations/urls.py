"""The pages of `annotations`."""

from django.urls import URLPattern

app_name = "annotations"
urlpatterns: list[URLPattern] = []
