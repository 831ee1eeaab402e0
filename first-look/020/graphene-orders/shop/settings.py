import os

SECRET_KEY = "not-a-secret"
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shop.urls"
WSGI_APPLICATION = "shop.wsgi.application"
INSTALLED_APPS = ["graphene_django", "shop"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": "127.0.0.1",
        "PORT": os.environ["DB_PORT"],
        "NAME": "shop",
        "USER": "shop",
        "CONN_MAX_AGE": 0,
        "OPTIONS": {"pool": {"min_size": 10, "max_size": 14, "timeout": 10}},
    }
}
GRAPHENE = {"SCHEMA": "shop.schema.schema"}
