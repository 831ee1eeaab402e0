import os

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import models
from django.http import HttpResponse, JsonResponse
from django.urls import path

settings.configure(
    SECRET_KEY="x", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, MIDDLEWARE=[],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "postgres",
                           "HOST": os.environ["DB_SOCKET"], "PORT": os.environ["DB_PORT"], "CONN_MAX_AGE": None}},
)
django.setup()


class Book(models.Model):
    title = models.TextField()

    class Meta:
        app_label, db_table = "shop", "book"


class Review(models.Model):
    book = models.ForeignKey(Book, models.CASCADE, related_name="reviews")
    stars = models.IntegerField()

    class Meta:
        app_label, db_table = "shop", "review"


def health(request):
    Book.objects.first()
    return HttpResponse("ok")


def book(request, pk):
    return JsonResponse({"title": Book.objects.get(pk=pk).title})


def shelf(request):
    n = int(request.GET["n"])
    books = Book.objects.order_by("id")[:n]
    if os.environ.get("ANNOTATE"):
        stars = Review.objects.filter(book_id__lte=n).values("book_id").annotate(s=models.Avg("stars"))
        stars = {r["book_id"]: float(r["s"]) for r in stars}
        return JsonResponse({b.title: stars[b.id] for b in books})
    return JsonResponse({b.title: b.reviews.aggregate(s=models.Avg("stars"))["s"] for b in books})


urlpatterns = [path("health", health), path("book/<int:pk>", book), path("shelf", shelf)]
app = get_wsgi_application()
