from django.db.models import Count
from django.http import JsonResponse
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from racks.api import DeviceView, RackView
from racks.models import Rack

router = SimpleRouter()
router.register("racks", RackView)
router.register("devices", DeviceView)


def health(request):
    return JsonResponse(Rack.objects.aggregate(racks=Count("id")))


urlpatterns = [path("api/", include(router.urls)), path("health", health)]
