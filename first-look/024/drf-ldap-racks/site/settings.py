import os

import ldap
from django_auth_ldap.config import GroupOfNamesType, LDAPSearch

SECRET_KEY = "racks"
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "rest_framework.authtoken", "racks"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["RACKS_DB"], "CONN_MAX_AGE": None,
        "OPTIONS": {"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;", "timeout": 10},
    }
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["racks.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.DjangoModelPermissionsOrAnonReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}
AUTHENTICATION_BACKENDS = ["django_auth_ldap.backend.LDAPBackend", "django.contrib.auth.backends.ModelBackend"]

AUTH_LDAP_SERVER_URI = "ldap://127.0.0.1:%s" % os.environ["LDAP_PORT"]
AUTH_LDAP_BIND_DN = "cn=racks,dc=corp,dc=example"
AUTH_LDAP_BIND_PASSWORD = "racks"
AUTH_LDAP_USER_SEARCH = LDAPSearch("ou=people,dc=corp,dc=example", ldap.SCOPE_SUBTREE, "(uid=%(user)s)")
AUTH_LDAP_USER_ATTR_MAP = {"first_name": "givenName", "last_name": "sn", "email": "mail"}
AUTH_LDAP_GROUP_SEARCH = LDAPSearch("ou=groups,dc=corp,dc=example", ldap.SCOPE_SUBTREE, "(objectClass=groupOfNames)")
AUTH_LDAP_GROUP_TYPE = GroupOfNamesType()
AUTH_LDAP_REQUIRE_GROUP = "cn=racks-users,ou=groups,dc=corp,dc=example"
AUTH_LDAP_MIRROR_GROUPS = ["racks-users", "racks-admins"]
AUTH_LDAP_USER_FLAGS_BY_GROUP = {"is_superuser": ["cn=racks-admins,ou=groups,dc=corp,dc=example"]}
AUTH_LDAP_FIND_GROUP_PERMS = False
AUTH_LDAP_CACHE_TIMEOUT = 60

# Before NetBox #7928 each request with a token had its user read anew from the directory.
LDAP_USER_PER_REQUEST = os.environ.get("LDAP_USER_PER_REQUEST") == "yes"
