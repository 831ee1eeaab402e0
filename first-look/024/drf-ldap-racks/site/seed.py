"""Tables, racks, devices, 30 users of the directory with a token each."""
import os
import random

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
import django  # noqa: E402

django.setup()
from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from racks.models import Device, Rack  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402

call_command("migrate", run_syncdb=True, verbosity=0)
random.seed(9)
users_group = Group.objects.create(name="racks-users")
Group.objects.create(name="racks-admins")
for i in range(1, 31):
    user = User(username="u%d" % i, first_name="P%d" % i, last_name="Person%d" % i, email="u%d@corp.example" % i)
    user.set_unusable_password()
    user.save()
    user.groups.add(users_group)
    Token.objects.create(user=user, key="%040x" % (0xACE0000 + i))
for i in range(1, 81):
    rack = Rack.objects.create(name="R%02d" % i, room="room %d" % (i % 6))
    Device.objects.bulk_create(
        Device(rack=rack, name="srv-%d-%d" % (i, j), model=random.choice(["DL360", "R640", "SR630"]), position=j * 2,
               address="10.%d.%d.%d" % (i, j, random.randint(1, 254)))
        for j in range(1, 11))
