from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from graphene_django.views import GraphQLView

from .schema import DOCUMENTS, schema


class PersistedView(GraphQLView):
    def parse_body(self, request):
        data = super().parse_body(request)
        if "document" in data:
            data["query"] = DOCUMENTS[data["document"]]
        return data


urlpatterns = [
    path("graphql", csrf_exempt(PersistedView.as_view(schema=schema))),
    path("health", lambda request: HttpResponse("ok")),
]
