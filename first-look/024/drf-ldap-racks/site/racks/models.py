from django.db import models


class Rack(models.Model):
    name = models.CharField(max_length=40)
    room = models.CharField(max_length=40)
    units = models.IntegerField(default=42)


class Device(models.Model):
    rack = models.ForeignKey(Rack, on_delete=models.CASCADE, related_name="devices")
    name = models.CharField(max_length=60)
    model = models.CharField(max_length=60)
    position = models.IntegerField()
    address = models.GenericIPAddressField(db_index=True)
