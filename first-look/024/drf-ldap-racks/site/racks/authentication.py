from django.conf import settings
from django_auth_ldap.backend import LDAPBackend
from rest_framework import authentication, exceptions


class TokenAuthentication(authentication.TokenAuthentication):
    def authenticate_credentials(self, key):
        model = self.get_model()
        try:
            token = model.objects.select_related("user").get(key=key)
        except model.DoesNotExist:
            raise exceptions.AuthenticationFailed("Invalid token")

        user = token.user
        # When LDAP authentication is active try to load user data from LDAP directory
        backend = LDAPBackend()
        if settings.LDAP_USER_PER_REQUEST or backend.settings.FIND_GROUP_PERMS or not user.is_active:
            ldap_user = backend.populate_user(user.username)
            # If the user is found in the LDAP directory use it, if not fallback to the local user
            if ldap_user:
                user = ldap_user
        if not user.is_active:
            raise exceptions.AuthenticationFailed("User inactive")
        return user, token
