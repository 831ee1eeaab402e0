from rest_framework import serializers, viewsets

from .models import Device, Rack


class DeviceSerializer(serializers.ModelSerializer):
    class Meta:
        model = Device
        fields = ["id", "name", "model", "position", "address", "rack"]


class RackSerializer(serializers.ModelSerializer):
    devices = DeviceSerializer(many=True, read_only=True)

    class Meta:
        model = Rack
        fields = ["id", "name", "room", "units", "devices"]


class RackView(viewsets.ReadOnlyModelViewSet):
    queryset = Rack.objects.prefetch_related("devices").order_by("id")
    serializer_class = RackSerializer


class DeviceView(viewsets.ReadOnlyModelViewSet):
    queryset = Device.objects.order_by("id")
    serializer_class = DeviceSerializer
